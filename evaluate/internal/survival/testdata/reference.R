# Makes reference.csv from examples/pbc/survival.csv with the R package survival: survival, its
# standard error, the cumulative incidence of both causes and restricted means, by arm.
# and lung.csv, the trial NCCTG of that package. Run in this directory: Rscript reference.R
library(survival)
d <- read.csv("../../../../examples/pbc/survival.csv")
at <- c(365, 1000, 2000, 3000, 4000)
until <- 3652
rows <- list()
add <- function(arm, what, time, value) rows[[length(rows) + 1]] <<- data.frame(arm, what, time, value = sprintf("%.15g", value))
for (arm in c("D-penicillamine", "placebo")) {
  x <- d[d$arm == arm, ]
  km <- survfit(Surv(days, status != "censored") ~ 1, data = x)
  s <- summary(km, times = at)
  for (i in seq_along(at)) { add(arm, "survival", at[i], s$surv[i]); add(arm, "std_err", at[i], s$std.err[i]) }
  m <- summary(km, rmean = until)$table
  add(arm, "restricted_mean", until, m[["rmean"]]); add(arm, "std_err_mean", until, m[["se(rmean)"]])
  add(arm, "median", 0, m[["median"]])
  aj <- survfit(Surv(days, factor(status, levels = c("censored", "death", "transplant"))) ~ 1, data = x)
  p <- summary(aj, times = at)$pstate
  for (i in seq_along(at)) { add(arm, "death", at[i], p[i, 2]); add(arm, "transplant", at[i], p[i, 3]) }
}
write.csv(data.frame(time = lung$time, status = lung$status), "lung.csv", row.names = FALSE, quote = FALSE)
write.csv(do.call(rbind, rows), "reference.csv", row.names = FALSE, quote = FALSE)
