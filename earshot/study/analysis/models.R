# Rscript analysis/models.R, in the folder of this data set: other models of the answers that the
# report counts (analysis/scored.csv). Writes analysis/models.csv, and prints it.
#
# Linear mixed models (lme4) have raters and stimuli as crossed random effects; cumulative link
# mixed models (ordinal) do not take the steps of a scale for equal. Their intervals are Wald's, and
# are another road to the same end as those of the report: values agree where everybody has rated
# everything, and intervals are a few percent wider or narrower.

needed <- c("lme4", "ordinal")
absent <- needed[!vapply(needed, requireNamespace, TRUE, quietly = TRUE)]
if (length(absent)) stop("install.packages(c('", paste(absent, collapse = "', '"), "'))")

scored <- read.csv("analysis/scored.csv", encoding = "UTF-8", colClasses = c(
  scale = "character", rater = "character", stimulus = "character", system = "character",
  compared_with = "character", answer = "numeric"
))
scored$compared_with[is.na(scored$compared_with)] <- ""
MAX_LEVELS <- 21 # different answers of an ordinal scale
rows <- list()

note <- function(scale, model, system, other, value, error) {
  rows[[length(rows) + 1]] <<- data.frame(
    scale = scale, model = model, system = system, other = other, value = value,
    low = value - 1.96 * error, high = value + 1.96 * error
  )
}

# The random effects of raters and stimuli, and of how they suit single systems, of those of which
# there is more than one level.
random <- function(answers, of_systems = FALSE) {
  groups <- c("rater", "stimulus")
  groups <- groups[vapply(groups, function(g) length(unique(answers[[g]])) > 1, TRUE)]
  if (of_systems && length(groups) > 1) groups <- c(groups, paste0(groups, ":system"))
  paste0("(1 | ", groups, ")", recycle0 = TRUE, collapse = " + ")
}

# Every system, and every two of them, by the coefficients that are a system's mean.
compare <- function(scale, model, names, values, variance) {
  for (i in seq_along(names)) {
    note(scale, model, names[i], "", values[i], sqrt(variance[i, i]))
    for (j in seq_along(names)) {
      if (i < j) {
        error <- sqrt(variance[i, i] + variance[j, j] - 2 * variance[i, j])
        note(scale, model, names[i], names[j], values[i] - values[j], error)
      }
    }
  }
}

of_systems <- function(scale, answers) {
  names <- sort(unique(answers$system))
  answers$system <- factor(answers$system, levels = names)
  if (length(names) < 2 || random(answers) == "") return(invisible())
  formula <- as.formula(paste("answer ~ 0 + system +", random(answers, TRUE)))
  fit <- lme4::lmer(formula, answers)
  compare(scale, "lmer", names, lme4::fixef(fit), as.matrix(vcov(fit)))
  levels <- sort(unique(answers$answer))
  if (length(levels) < 3 || length(levels) > MAX_LEVELS) return(invisible())
  answers$answer <- factor(answers$answer, levels = levels, ordered = TRUE)
  formula <- as.formula(paste("answer ~ system +", random(answers, TRUE)))
  fit <- try(ordinal::clmm(formula, answers), silent = TRUE)
  if (inherits(fit, "try-error")) return(invisible())
  places <- paste0("system", names[-1])
  values <- c(0, fit$beta[places])
  variance <- matrix(0, length(names), length(names))
  variance[-1, -1] <- vcov(fit)[places, places]
  compare(scale, "clmm", names, values, variance)
}

of_pairs <- function(scale, answers) {
  for (pair in split(answers, list(answers$system, answers$compared_with), drop = TRUE)) {
    if (random(pair) == "" || var(pair$answer) == 0) next
    fit <- lme4::lmer(as.formula(paste("answer ~ 1 +", random(pair))), pair)
    value <- unname(lme4::fixef(fit)[1])
    note(
      scale, "lmer", pair$system[1], pair$compared_with[1], value, sqrt(as.matrix(vcov(fit))[1, 1])
    )
  }
}

for (answers in split(scored, scored$scale)) {
  scale <- answers$scale[1]
  if (all(answers$compared_with == "")) of_systems(scale, answers) else of_pairs(scale, answers)
}
if (!length(rows)) stop("There are too few answers for a model.")
table <- do.call(rbind, rows)
write.csv(table, "analysis/models.csv", row.names = FALSE)
print(table, digits = 4, row.names = FALSE)
