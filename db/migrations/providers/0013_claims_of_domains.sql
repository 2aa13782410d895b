-- compatible: programs of before count a claim from when its row was made, and go on to.
-- From when on somebody else may claim the name, a week later: when it was first asked for, or when its records were gone. Null: when the row says.
alter table providers.sender_domains add column claimed_at timestamptz(3);

-- When an organization first asked for a name, however often it lets go of it and asks again.
create table providers.sender_domain_claims (
  organization_id uuid not null,
  domain text not null,
  since timestamptz(3) not null,
  primary key (organization_id, domain)
);
create index sender_domain_claims_by_age on providers.sender_domain_claims (since);
