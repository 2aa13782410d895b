-- compatible: programs of before rest candidates each by itself, and neither write nor read these.
-- Candidates that rest after a failure, or failed lately, where several processes call. What is lost in a crash begins anew.
create unlogged table providers.rests (
  credential_id uuid not null,
  model text not null check (length(model) between 1 and 500),
  -- Null: it does not rest yet.
  until timestamptz(3),
  is_limit boolean not null,
  -- Failures in a row that are no limit, and when the first of them was.
  failures integer not null check (failures >= 0),
  failing_since timestamptz(3),
  -- From when on nothing here counts any more.
  over_at timestamptz(3) not null,
  primary key (credential_id, model)
);
create index rests_by_end on providers.rests (over_at);

-- Whether a model that may be called was changed is asked at every call.
create index configured_models_by_version on providers.models (name, version) where configured;
