-- Whom an authorization was begun by and for, in words: a page names them before anything is connected in a browser that did not begin it.
alter table publishing.authorizations
  add column begun_by text,
  add column organization_name text;
