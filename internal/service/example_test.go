package service_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"

	"github.com/discreet-rl/discreet/internal/service"
)

func Example() {
	ctx, cancel := context.WithCancel(context.Background())
	s, err := service.New(service.Config{
		Listen: "127.0.0.1:0", Metrics: service.NewMetrics("example"),
		Log: service.NewLog(os.Stderr, slog.LevelWarn, map[string]service.Kind{"error": service.Text}),
	})
	if err != nil {
		panic(err)
	}
	s.Handle("GET /hello", service.Access{Anonymous: true}, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "hello")
	}))
	addr, err := s.Listen(ctx)
	if err != nil {
		panic(err)
	}
	ended := make(chan error)
	go func() { ended <- s.Run(ctx) }()
	answer, err := http.Get("http://" + addr.String() + "/hello")
	if err != nil {
		panic(err)
	}
	text, _ := io.ReadAll(answer.Body)
	fmt.Print(string(text))
	answer.Body.Close()
	cancel()
	fmt.Println(<-ended)
	// Output:
	// hello
	// <nil>
}
