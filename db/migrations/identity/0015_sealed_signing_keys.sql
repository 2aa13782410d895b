-- Programs of before take a key that is sealed for one of another AUTH_SECRET, and would end every session: they stop.
-- The private halves are sealed with ENCRYPTION_KEYS from the next start on, which seals what it finds encrypted with AUTH_SECRET.

-- Which AUTH_SECRET the sessions were begun with, by an HMAC that it has made: the first start with another one ends them.
create table identity.secret_in_use (
  only_one boolean primary key default true check (only_one),
  fingerprint text not null
);
