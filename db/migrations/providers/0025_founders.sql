-- compatible: a program that does not know founders limits each organization by itself, as before.
-- Who founded an organization, as far as identity said; and whether it has the platform's allowance for models: one organization of each founder has.
alter table providers.organizations
  add column founded_by uuid,
  add column has_allowance boolean not null default true;
create unique index one_allowance_of_a_founder on providers.organizations (founded_by) where has_allowance;
create index organizations_of_founder on providers.organizations (founded_by) where founded_by is not null;
-- Whether a limit that follows the setting has its amount, or nothing.
alter table providers.spend_limits add column has_allowance boolean not null default true;
