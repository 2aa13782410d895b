-- compatible: a program that does not know the column leaves it empty, and takes such a token for an older one.
alter table publishing.connections
  -- When the present access token came; null for one of an earlier program.
  add column renewed_at timestamptz(3);
