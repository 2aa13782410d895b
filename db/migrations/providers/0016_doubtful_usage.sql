-- compatible: a program of before doubts nothing.
-- Whether the provider of a call reported more usage than it can have had: what is on record then is the bound.
alter table providers.calls add column doubtful boolean not null default false;
-- Models of which an organization's managers are told so, and when it was last.
create table providers.doubted_models (
  organization_id uuid not null,
  model text not null check (length(model) between 1 and 500),
  last_at timestamptz(3) not null,
  primary key (organization_id, model)
);
create index doubted_models_by_age on providers.doubted_models (last_at);
