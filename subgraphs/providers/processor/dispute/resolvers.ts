import type { Stripe } from 'stripe'
import { DomainError } from '../../../../platform/errors.ts'
import type { CreateProcessorFileInput, Resolvers, UpdateProcessorDisputeInput } from '../../resolvers.generated.ts'
import { changeAtProcessor } from '../exchange.ts'
import { momentOf, readMetadata, readProcessorId, readWords, readWordsMaybe, upper } from '../read.ts'

/** What evidence may be, and how much of it. */
const most = { bytes: 5 * 1024 * 1024, name: 200, text: 20_000, files: 5 } as const
const types = ['application/pdf', 'image/png', 'image/jpeg']

/** The processor's names for files of evidence, in the order in which they are filled: it takes one file under each. */
const places = ['uncategorized_file', 'customer_communication', 'receipt', 'service_documentation', 'shipping_documentation'] as const

const refuse = (field: string, sentence: string): never => {
  throw new DomainError('BAD_USER_INPUT', `${field} ${sentence}`, { field })
}

const disputeOf = ({ id, status, evidence_details }: Stripe.Dispute) => ({
  id,
  status: upper(status),
  evidenceDueBy: evidence_details.due_by ? momentOf(evidence_details.due_by) : null,
})

/** Nothing too large is decoded. @throws BAD_USER_INPUT; no message repeats the content */
function readFile({ name, contentType, content }: CreateProcessorFileInput): Stripe.FileCreateParams['file'] {
  if (!types.includes(contentType)) refuse('contentType', `is none of ${types.join(', ')}.`)
  if (content.length > Math.ceil(most.bytes / 3) * 4) refuse('content', `has more than ${most.bytes} bytes.`)
  if (content.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(content))
    refuse('content', 'takes base64 with its padding, on one line, of at least one byte.')
  const data = Buffer.from(content, 'base64')
  if (data.length > most.bytes) refuse('content', `has more than ${most.bytes} bytes.`)
  return { data: new Uint8Array(data), name: readWords(name, 'name', most.name), type: contentType }
}

function evidenceOf({ text, fileIds }: UpdateProcessorDisputeInput): Stripe.DisputeUpdateParams.Evidence {
  const files = fileIds ?? []
  if (files.length > most.files) refuse('fileIds', `are ${files.length}: at most ${most.files} are taken.`)
  const words = readWordsMaybe(text, 'text', most.text)
  const named = files.map((id, at) => [places[at]!, readProcessorId(id, `fileIds[${at}]`)] as const)
  return { ...(words && { uncategorized_text: words }), ...Object.fromEntries(named) }
}

export const processorDisputeResolvers: Resolvers = {
  Mutation: {
    async createProcessorFile(_, { input }, context) {
      const file = readFile(input)
      readMetadata(input.metadata)
      const { id } = await changeAtProcessor(context, {
        ...{ operation: 'createProcessorFile', action: 'processor_file.created', idempotencyKey: input.idempotencyKey },
        run: (stripe, options) => stripe.files.create({ purpose: 'dispute_evidence', file }, options),
      })
      return { id }
    },

    async updateProcessorDispute(_, { input }, context) {
      const [id, evidence, metadata] = [readProcessorId(input.id), evidenceOf(input), readMetadata(input.metadata)]
      const params = { evidence, submit: input.submit ?? true, ...(metadata && { metadata }) }
      return disputeOf(
        await changeAtProcessor(context, {
          ...{ operation: 'updateProcessorDispute', action: 'processor_dispute.updated' },
          ...{ idempotencyKey: input.idempotencyKey, details: { submit: params.submit } },
          run: (stripe, options) => stripe.disputes.update(id, params, options),
        }),
      )
    },

    async closeProcessorDispute(_, { input }, context) {
      const id = readProcessorId(input.id)
      readMetadata(input.metadata)
      return disputeOf(
        await changeAtProcessor(context, {
          ...{ operation: 'closeProcessorDispute', action: 'processor_dispute.closed', idempotencyKey: input.idempotencyKey },
          run: (stripe, options) => stripe.disputes.close(id, {}, options),
        }),
      )
    },
  },
}
