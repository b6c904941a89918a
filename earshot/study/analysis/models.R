# Rscript analysis/models.R, in the folder of this data set: other models of the answers that the
# report counts (analysis/scored.csv). Writes analysis/models.csv, and prints it.
#
# Linear mixed models (lme4) have raters and stimuli as crossed random effects; cumulative link
# mixed models (ordinal) do not take the steps of a scale for equal. Their intervals are Wald's, and
# are another road to the same end as those of the report: values agree where everybody has rated
# everything, and intervals are a few percent wider or narrower. What has no model is said in a
# sentence, and models.csv is written in any case.

needed <- c("lme4", "ordinal")
absent <- needed[!vapply(needed, requireNamespace, TRUE, quietly = TRUE)]
if (length(absent)) stop("install.packages(c('", paste(absent, collapse = "', '"), "'))")

scored <- read.csv("analysis/scored.csv", encoding = "UTF-8", colClasses = c(
  scale = "character", rater = "character", stimulus = "character", system = "character",
  compared_with = "character", answer = "numeric"
))
scored$compared_with[is.na(scored$compared_with)] <- ""
scored$rater <- factor(scored$rater)
scored$stimulus <- factor(scored$stimulus)
test <- readLines(list.files("data/raw", "[.]jsonl$", full.names = TRUE)[1], 1, encoding = "UTF-8")
staircase <- grepl('"staircase": {', test, fixed = TRUE)
MAX_LEVELS <- 21 # different answers of an ordinal scale
TOO_FEW <- "there are too few answers, raters or stimuli."
rows <- list()

# Run a model; where there is none, say so, and go on.
attempt <- function(scale, model, what, code) {
  tryCatch(code, error = function(e) {
    cat("No", model, "of", what, "on", paste0(scale, ":"), conditionMessage(e), "\n")
  })
}

note <- function(scale, model, system, other, value, error) {
  rows[[length(rows) + 1]] <<- data.frame(
    scale = scale, model = model, system = system, other = other, value = value,
    low = value - 1.96 * error, high = value + 1.96 * error, row.names = NULL
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

# Every system, and every two of them, by the coefficients that are a system's mean; an ordinal
# model has differences alone.
compare <- function(scale, model, names, values, variance) {
  for (i in seq_along(names)) {
    if (model != "clmm") note(scale, model, names[i], "", values[i], sqrt(variance[i, i]))
    for (j in seq_along(names)) {
      if (i < j) {
        error <- sqrt(variance[i, i] + variance[j, j] - 2 * variance[i, j])
        note(scale, model, names[i], names[j], values[i] - values[j], error)
      }
    }
  }
}

linear <- function(scale, answers, names) {
  if (length(names) < 2 || random(answers) == "") stop(TOO_FEW)
  formula <- as.formula(paste("answer ~ 0 + system +", random(answers, TRUE)))
  fit <- lme4::lmer(formula, answers)
  compare(scale, "lmer", names, lme4::fixef(fit), as.matrix(vcov(fit)))
}

ordinal_model <- function(scale, answers, names) {
  if (length(names) < 2 || random(answers) == "") stop(TOO_FEW)
  levels <- sort(unique(answers$answer))
  if (length(levels) < 3 || length(levels) > MAX_LEVELS) {
    stop("it takes 3 to ", MAX_LEVELS, " different answers.")
  }
  answers$answer <- factor(answers$answer, levels = levels, ordered = TRUE)
  formula <- as.formula(paste("answer ~ system +", random(answers, TRUE)))
  fit <- ordinal::clmm(formula, answers)
  places <- paste0("system", names[-1])
  values <- c(0, fit$beta[places])
  variance <- matrix(0, length(names), length(names))
  variance[-1, -1] <- vcov(fit)[places, places]
  if (!all(is.finite(variance)) || any(diag(variance) < 0)) stop("its intervals have no ends.")
  compare(scale, "clmm", names, values, variance)
}

of_systems <- function(scale, answers) {
  names <- sort(unique(answers$system))
  answers$system <- factor(answers$system, levels = names)
  attempt(scale, "lmer", "systems", linear(scale, answers, names))
  attempt(scale, "clmm", "systems", ordinal_model(scale, answers, names))
}

of_pair <- function(scale, pair) {
  if (random(pair) == "" || var(pair$answer) == 0) stop(TOO_FEW)
  fit <- lme4::lmer(as.formula(paste("answer ~ 1 +", random(pair))), pair)
  value <- unname(lme4::fixef(fit)[1])
  note(
    scale, "lmer", pair$system[1], pair$compared_with[1], value, sqrt(as.matrix(vcov(fit))[1, 1])
  )
}

of_pairs <- function(scale, answers) {
  for (pair in split(answers, list(answers$system, answers$compared_with), drop = TRUE)) {
    what <- paste(pair$system[1], "and", pair$compared_with[1])
    attempt(scale, "lmer", what, of_pair(scale, pair))
  }
}

if (staircase) {
  cat(
    "There is no model of a staircase here: its levels were chosen by the answers, so that shares",
    "per level are no estimates. The report has the threshold.\n"
  )
} else {
  for (answers in split(scored, scored$scale)) {
    scale <- answers$scale[1]
    if (all(answers$compared_with == "")) of_systems(scale, answers) else of_pairs(scale, answers)
  }
}
table <- data.frame(
  scale = character(), model = character(), system = character(), other = character(),
  value = numeric(), low = numeric(), high = numeric()
)
table <- do.call(rbind, c(list(table), rows))
write.csv(table, "analysis/models.csv", row.names = FALSE)
if (nrow(table)) print(table, digits = 4, row.names = FALSE) else cat("No model has values.\n")
