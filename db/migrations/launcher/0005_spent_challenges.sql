-- compatible: a program that does not know challenges never asks whether one was solved.
-- Challenges that were solved, by the hash of their signature: each counts once, over all processes.
create table launcher.spent_challenges (
  hash bytea primary key,
  expires_at timestamptz(3) not null
);
create index spent_challenges_by_age on launcher.spent_challenges (expires_at);
