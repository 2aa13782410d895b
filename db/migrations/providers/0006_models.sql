-- compatible: a program that knows no models asks for none.
-- Every model that is known: those that the platform allows, and those that sources have besides.
create table providers.models (
  id uuid primary key,
  name text not null unique check (length(name) between 3 and 200 and name ~ '^[^/]+/'),
  provider text not null check (length(provider) between 1 and 40),
  capability text not null check (capability in ('CHAT', 'IMAGE', 'TRANSCRIPTION', 'EMBEDDING')),
  configured boolean not null default false,
  lifecycle text not null default 'ACTIVE' check (lifecycle in ('ACTIVE', 'DEPRECATED', 'RETIRED')),
  deprecated_at timestamptz(3),
  retires_at timestamptz(3),
  replacement text check (length(replacement) <= 200),
  context_tokens integer check (context_tokens > 0),
  max_output_tokens integer check (max_output_tokens > 0),
  -- In micro-US-dollars; all null: nobody knows a price.
  input_micros_per_million bigint check (input_micros_per_million >= 0),
  output_micros_per_million bigint check (output_micros_per_million >= 0),
  image_micros bigint check (image_micros >= 0),
  minute_micros bigint check (minute_micros >= 0),
  first_seen_at timestamptz(3) not null,
  seen_at timestamptz(3),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null
);
create index models_by_age on providers.models (created_at, id);
create index configured_models_by_age on providers.models (created_at, id) where configured;

-- Which model answers who names none, and which may be named: of organizations, and of the platform.
create table providers.model_preferences (
  id uuid primary key,
  level text not null check (level in ('ORGANIZATION', 'PLATFORM')),
  organization_id uuid,
  capability text not null check (capability in ('CHAT', 'IMAGE', 'TRANSCRIPTION', 'EMBEDDING')),
  model text not null check (length(model) between 3 and 200),
  -- Null: those of the platform.
  allowed_models text[] check (cardinality(allowed_models) between 1 and 200),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  constraint the_platforms_is_no_organizations check ((level = 'PLATFORM') = (organization_id is null)),
  constraint the_platform_allows_what_it_allows check (organization_id is not null or allowed_models is not null)
);
create unique index one_preference_of_a_capability on providers.model_preferences (organization_id, capability) nulls not distinct;
create index preferences_by_model on providers.model_preferences (model);

-- Which models answer where the first one does not.
create table providers.fallback_chains (
  id uuid primary key,
  level text not null check (level in ('ORGANIZATION', 'PLATFORM')),
  organization_id uuid,
  capability text not null check (capability in ('CHAT', 'IMAGE', 'TRANSCRIPTION', 'EMBEDDING')),
  models text[] not null check (cardinality(models) <= 10),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  constraint the_platforms_is_no_organizations check ((level = 'PLATFORM') = (organization_id is null))
);
create unique index one_chain_of_a_capability on providers.fallback_chains (organization_id, capability) nulls not distinct;
create index chains_by_model on providers.fallback_chains using gin (models);

-- What a platform begins with; its super admins change it.
insert into providers.models
  (id, name, provider, capability, configured, context_tokens, max_output_tokens, input_micros_per_million, output_micros_per_million, image_micros,
   minute_micros, first_seen_at, created_at, updated_at, created_by)
select gen_random_uuid(), name, split_part(name, '/', 1), capability, true, context, output, read, written, image, minute, since, since, since, 'system:start'
from (values
  (1, 'openai/gpt-5-mini', 'CHAT', 400000, 128000, 250000::bigint, 2000000::bigint, null::bigint, null::bigint),
  (2, 'anthropic/claude-haiku-4-5', 'CHAT', 200000, 64000, 1000000, 5000000, null, null),
  (3, 'openai/gpt-image-1', 'IMAGE', null, null, null, null, 40000, null),
  (4, 'openai/gpt-image-1-mini', 'IMAGE', null, null, null, null, 10000, null),
  (5, 'openai/gpt-4o-mini-transcribe', 'TRANSCRIPTION', 16000, 2000, null, null, null, 3000),
  (6, 'openai/whisper-1', 'TRANSCRIPTION', null, null, null, null, null, 6000),
  (7, 'openai/text-embedding-3-small', 'EMBEDDING', 8191, null, 20000, null, null, null)
) as m(place, name, capability, context, output, read, written, image, minute),
lateral (select timestamptz '2026-11-22T00:00:00Z' + place * interval '1 millisecond' as since) as age;

insert into providers.model_preferences (id, level, capability, model, allowed_models, created_at, updated_at, created_by)
select gen_random_uuid(), 'PLATFORM', capability, (array_agg(name order by created_at))[1], array_agg(name order by created_at), min(created_at), min(created_at), 'system:start'
from providers.models group by capability;

insert into providers.fallback_chains (id, level, capability, models, created_at, updated_at, created_by)
select gen_random_uuid(), 'PLATFORM', capability, allowed_models, created_at, updated_at, created_by from providers.model_preferences;
