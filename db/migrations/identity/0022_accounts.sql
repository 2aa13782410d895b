-- compatible: programs of before know no recovery addresses, and take no requests.
-- Where a new password may be asked for beside the address of the account: the one that was verified, and one that is to take its place.
create table identity.recovery_emails (
  user_id uuid primary key references identity.users (id) on delete cascade,
  email text,
  verified_at timestamptz(3),
  pending_email text,
  updated_at timestamptz(3) not null,
  check ((email is null) = (verified_at is null)),
  check (email is not null or pending_email is not null)
);
create index recovery_emails_by_address on identity.recovery_emails (email) where email is not null;

-- What was asked for by address, by whomever: a job looks whether there is an account, and whoever asked is told the same at once. A request that was
-- seen to is not here any more.
create table identity.account_requests (
  id uuid primary key,
  kind text not null check (kind in ('sign-up', 'verification', 'password-reset', 'email-change')),
  email text not null,
  -- The name and the hashed password of a new account; whose address is to change.
  details jsonb not null default '{}',
  created_at timestamptz(3) not null
);
create index account_requests_by_age on identity.account_requests (created_at);

-- Who never verified the address goes after a while.
create index users_unverified on identity.users (created_at) where not email_verified;
