/** Texts that are to get vectors. */
export interface Embedding {
  readonly organizationId: string
  /** The person for whom it is done: providers attribute the call to them. Null for nobody. */
  readonly forUser: string | null
  readonly texts: readonly string[]
  /** Time limit, in ms. */
  readonly timeoutMs: number
}

/** A question that passages are compared with. */
export type EmbeddedQuestion = Pick<Embedding, 'organizationId' | 'forUser'> & { readonly text: string }

/** What makes vectors of texts, at the gateway to providers: as `app_agents`, with its own scopes. */
export interface Embedder {
  /** The model, a name of providers' catalogue: vectors of another one are not compared. */
  readonly model: string
  /** Makes a vector of each text. @throws ModelFailure */
  embed(embedding: Embedding): Promise<readonly (readonly number[])[]>
  /** Makes a vector of a question; null where there is none in time. */
  question(question: EmbeddedQuestion): Promise<readonly number[] | null>
  /** Has questions of an organization get no vector for a while, because one could not be answered by it. */
  failed(organizationId: string, error: unknown): void
}
