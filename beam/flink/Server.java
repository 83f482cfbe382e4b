import org.apache.beam.runners.flink.FlinkJobServerDriver;

/**
 * Beam's job server for Flink, with jobs that bring no jars.
 *
 * <p>The job server adds every jar of its own class path to every job, some 160 of 150 MB: each job sends
 * them to the JobManager, the TaskManagers fetch them, and load and compile anew all classes that they need.
 * A job here is a round, so that this is most of what a round takes. Where Flink has these jars on its own
 * class path already (those in its lib directory), jobs need none: the server finds nothing to add once it
 * does not see its class path any longer. Arguments are those of FlinkJobServerDriver.
 */
public final class Server {
  public static void main(String[] args) throws Exception {
    System.setProperty("java.class.path", "");
    FlinkJobServerDriver.main(args);
  }
}
