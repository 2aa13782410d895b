-- compatible: a program that counts no calls to models writes none.
-- How many calls to models an organization was lent for a minute, where several processes count together. What is lost in a crash begins anew.
create unlogged table providers.ai_call_rates (
  organization_id uuid primary key,
  minute timestamptz(3) not null,
  lent integer not null check (lent >= 0),
  -- Of that, to whoever came last.
  granted integer not null check (granted >= 0)
);
create index ai_call_rates_by_age on providers.ai_call_rates (minute);
