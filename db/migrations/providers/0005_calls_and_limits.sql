-- compatible: a program that knows neither calls nor limits writes none, and asks for none.
-- Every call that somebody made through providers: what it was, for whom, what it cost.
create table providers.calls (
  organization_id uuid not null,
  id uuid not null,
  family text not null check (family in ('AI', 'EMAIL', 'PAYMENTS', 'VIDEO', 'NETWORK')),
  operation text not null check (length(operation) between 1 and 100),
  status text not null check (status in ('RUNNING', 'SUCCEEDED', 'FAILED', 'REFUSED', 'ABORTED')),
  app_id text not null check (length(app_id) between 1 and 200),
  user_id uuid,
  -- What was asked for; which one answered, and whose it is.
  requested_model text check (length(requested_model) <= 500),
  model text check (length(model) <= 500),
  provider text check (length(provider) <= 200),
  input_tokens integer,
  output_tokens integer,
  units integer,
  -- Null: nobody knows a price.
  cost_micros bigint check (cost_micros >= 0),
  latency_ms integer,
  first_byte_ms integer,
  attempts jsonb not null default '[]',
  prompt text check (length(prompt) <= 100000),
  prompt_until timestamptz(3),
  -- What is held for it in limits while it runs: [{ limitId, micros, since }], since being where the limit's period begins.
  held jsonb not null default '[]',
  -- A limit that it counts in was made while it ran.
  has_new_limit boolean not null default false,
  -- Nobody said in time what became of it: what was held is free again; whoever says so later is heard all the same.
  expired boolean not null default false,
  expires_at timestamptz(3),
  created_at timestamptz(3) not null,
  ended_at timestamptz(3),
  primary key (organization_id, id),
  constraint what_runs_expires check ((status = 'RUNNING') = (expires_at is not null)),
  constraint what_is_over_holds_nothing check (status = 'RUNNING' or held = '[]')
);
create index calls_by_id on providers.calls (id);
create index calls_by_age on providers.calls (organization_id, created_at, id);
create index calls_of_everybody_by_age on providers.calls (created_at);
create index calls_that_run on providers.calls (expires_at) where expires_at is not null;
create index prompts_by_age on providers.calls (prompt_until) where prompt_until is not null;

-- How much may be spent, and how much was.
create table providers.spend_limits (
  id uuid primary key,
  level text not null check (level in ('ORGANIZATION', 'PLATFORM')),
  -- Whose it is; null for the platform's.
  organization_id uuid,
  -- The same without nulls, to be looked up by.
  owner_id uuid generated always as (coalesce(organization_id, '00000000-0000-0000-0000-000000000000'::uuid)) stored,
  -- Whose managers are told of it, and whose record names it: of the platform's, the organization that administers it.
  tenant_id uuid not null,
  scope_type text not null check (scope_type in ('PLATFORM', 'ORGANIZATION', 'APP', 'USER', 'PROVIDER_FAMILY', 'MODEL')),
  scope_value text not null check (length(scope_value) between 1 and 500),
  period text not null check (period in ('DAY', 'MONTH', 'TOTAL')),
  soft_limit_micros bigint check (soft_limit_micros >= 0),
  hard_limit_micros bigint check (hard_limit_micros >= 0),
  unpriced text not null default 'BLOCK' check (unpriced in ('ALLOW', 'BLOCK')),
  note text check (length(note) <= 500),
  -- The period that the figures are of.
  since timestamptz(3) not null,
  spent_micros bigint not null default 0 check (spent_micros >= 0),
  reserved_micros bigint not null default 0 check (reserved_micros >= 0),
  -- By how much more than the hard limit was spent before it was set, or turned out to have been spent where no call was held back for it.
  overdrawn_micros bigint not null default 0 check (overdrawn_micros >= 0),
  -- Whether what was spent before it was made is in its figures to the last call.
  is_counted boolean not null default true,
  -- Those of the period: [{ kind, at }].
  alerts jsonb not null default '[]',
  -- What its managers are told to see to.
  attention text check (attention in ('BUDGET_NEAR_LIMIT', 'BUDGET_EXHAUSTED')),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  constraint the_platforms_limit_is_no_organizations check ((level = 'PLATFORM') = (organization_id is null)),
  constraint a_limit_limits check (soft_limit_micros is not null or hard_limit_micros is not null),
  constraint no_call_passes_a_hard_limit check (spent_micros + reserved_micros <= hard_limit_micros + overdrawn_micros)
) with (fillfactor = 50);
create unique index one_limit_of_a_scope on providers.spend_limits (owner_id, scope_type, scope_value, period);
create index spend_limits_by_age on providers.spend_limits (organization_id, created_at, id);
create index spend_limits_that_wait on providers.spend_limits (id) where attention is not null or not is_counted;
