-- compatible: programs of before keep rests in providers.rests, which nothing of this version reads.
-- Candidates that rest after a failure, or failed lately, by the organization that met it. What is lost in a crash begins anew.
create unlogged table providers.candidate_rests (
  credential_id uuid not null,
  model text not null check (length(model) between 1 and 500),
  organization_id uuid not null,
  -- Null: it does not rest yet.
  until timestamptz(3),
  is_limit boolean not null,
  -- Failures in a row that are no limit, and when the first of them was.
  failures integer not null check (failures >= 0),
  failing_since timestamptz(3),
  -- From when on nothing here counts any more.
  over_at timestamptz(3) not null,
  primary key (credential_id, model, organization_id)
);
create index candidate_rests_by_end on providers.candidate_rests (over_at);
