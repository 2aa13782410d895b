-- compatible: programs of before invite nobody, and make organizations and members as ever.
-- Who was asked by mail to join an organization. The code of the mail is in identity.codes, known by its hash alone.
create table identity.invitations (
  organization_id uuid not null references identity.organizations (id),
  id              uuid not null,
  -- The address in lower case, whether anybody has an account there or not.
  email           text not null,
  roles           text[] not null check (cardinality(roles) > 0),
  -- One that waits past `expires_at` has expired, whether it says so here yet or not.
  status          text not null default 'pending' check (status in ('pending', 'accepted', 'declined', 'revoked', 'expired')),
  expires_at      timestamptz(3) not null,
  -- The person, if the address was somebody's: who was told in the platform as well.
  told_user_id    uuid,
  version         integer not null default 1,
  created_at      timestamptz(3) not null,
  updated_at      timestamptz(3) not null,
  created_by      text not null,
  primary key (organization_id, id)
);
create unique index invitations_by_id on identity.invitations (id);
create unique index one_invitation_waits on identity.invitations (organization_id, email) where status = 'pending';
create index invitations_by_age on identity.invitations (organization_id, created_at desc, id desc);
create index invitations_of_address on identity.invitations (email, created_at desc) where status = 'pending';
create index invitations_by_end on identity.invitations (expires_at) where status = 'pending';
create index invitations_untold on identity.invitations (email) where status = 'pending' and told_user_id is null;
create index invitations_over on identity.invitations (updated_at) where status <> 'pending';

