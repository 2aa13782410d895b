-- compatible: a program that does not know vectors finds passages by their words; vectors of a former version of a document are never compared.
create table agents.knowledge_vectors (
  document_id uuid not null,
  number integer not null,
  organization_id uuid not null,
  source_id uuid not null,
  visibility text not null,
  -- Version of the document whose passage it is.
  version integer not null,
  model text not null,
  -- The sign of each dimension.
  signs bit varying not null,
  primary key (document_id, number)
);
create index knowledge_vectors_by_model on agents.knowledge_vectors (organization_id, model);
create index knowledge_vectors_of_source on agents.knowledge_vectors (source_id);

-- Each dimension of these vectors, a byte from -127 to 127. Signs are read for all passages of an organization, these for a few of them.
create table agents.knowledge_dimensions (
  document_id uuid not null,
  number integer not null,
  source_id uuid not null,
  dimensions bytea not null,
  primary key (document_id, number)
);
create index knowledge_dimensions_of_source on agents.knowledge_dimensions (source_id);

-- Documents whose passages have vectors, or get them.
create table agents.embedded_documents (
  document_id uuid primary key,
  organization_id uuid not null,
  source_id uuid not null,
  version integer not null,
  model text not null,
  -- When its next passages get vectors; while a process has it, until when. Null: all have theirs.
  due_at timestamptz(3),
  attempts integer not null default 0
);
create index embedded_documents_due on agents.embedded_documents (due_at) where due_at is not null;
create index embedded_documents_of_organization on agents.embedded_documents (organization_id) where due_at is not null;
create index embedded_documents_of_source on agents.embedded_documents (source_id);
