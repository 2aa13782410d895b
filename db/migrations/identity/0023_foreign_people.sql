-- compatible: programs of before know nobody by another issuer.
-- People as the issuer calls them that signs them in, in place of the platform.
create table identity.foreign_people (
  issuer text not null,
  subject text not null check (length(subject) between 1 and 255),
  user_id uuid not null references identity.users (id) on delete cascade,
  created_at timestamptz(3) not null,
  primary key (issuer, subject)
);
create unique index one_subject_of_a_person on identity.foreign_people (user_id, issuer);
