/** What the processor says of a dispute when it is asked for something. */
export interface AnsweredDispute {
  readonly id: string
  /** Upper case: `UNDER_REVIEW`. */
  readonly status: string | null
  readonly evidenceDueBy: Date | null
}

/** Whose dispute is meant, and under which key the processor is asked. */
export interface DisputeAsk {
  readonly organizationId: string
  readonly key: string
  /** `du_…`. */
  readonly processorId: string
}

/** A file to keep at the processor. */
export interface NewEvidenceFile {
  readonly organizationId: string
  readonly key: string
  readonly name: string
  readonly contentType: string
  readonly content: Uint8Array
}

/** Disputes at the payment processor, as the gateway to providers offers them. Each call throws what the gateway refuses it with. */
export interface EvidenceProcessor {
  /** Sends evidence to the bank, once. @param evidence `fileIds` as the processor calls them */
  submit(ask: DisputeAsk, evidence: { readonly text: string | null; readonly fileIds: readonly string[] }): Promise<AnsweredDispute | null>
  /** Accepts a dispute: it is lost. */
  accept(ask: DisputeAsk): Promise<AnsweredDispute | null>
  /** @returns what the processor calls the file */
  keepFile(file: NewEvidenceFile): Promise<string | null>
}
