import type { Ask } from '../../../../platform/ask.ts'
import { codeOf, DomainError } from '../../../../platform/errors.ts'
import type { Methods, ProcessorMethod } from '../../engines/keeping/work.ts'
import { forOrganization } from '../../processor.ts'
import type { CustomerRow } from '../../stores/parties/customer.ts'
import { AttachProcessorMethodDocument, DetachProcessorMethodDocument, MakeProcessorCustomerDocument } from './ask.generated.ts'

interface Asks {
  readonly ask: Ask
}

/** Customers and their methods by the gateway to providers. */
export const methodsBy = (ask: Ask): Methods => ({
  makeCustomer: customer => makeProcessorCustomer({ ask }, customer),
  attach: (organizationId, method) => attachMethod({ ask }, organizationId, method),
  detach: (organizationId, method) => detachMethod({ ask }, organizationId, method),
})

/** Makes a customer at the processor, which is told our id alone. @returns the processor's id of it */
async function makeProcessorCustomer({ ask }: Asks, { id, organizationId }: CustomerRow): Promise<string> {
  const input = { idempotencyKey: `customer:${id}`, metadata: { customer_id: id } }
  const { createProcessorCustomer } = await ask(MakeProcessorCustomerDocument, { input }, forOrganization(organizationId))
  return createProcessorCustomer!.id
}

/**
 * Attaches a payment method to a customer of the processor.
 * @param token `pm_…`
 * @param key   the same for each try of one request
 * @throws BAD_USER_INPUT for a token that the processor does not know, which is not repeated; CONFLICT for a card that it refuses
 */
export async function attachMethod(
  { ask }: Asks,
  organizationId: string,
  { customerId, token, key }: { readonly customerId: string; readonly token: string; readonly key: string },
): Promise<ProcessorMethod> {
  const input = { customerId, paymentMethodId: token, idempotencyKey: `method:${key}` }
  const { attachProcessorPaymentMethod } = await ask(AttachProcessorMethodDocument, { input }, forOrganization(organizationId)).catch(error => {
    throw withoutToken(error, token)
  })
  return attachProcessorPaymentMethod!
}

/** Detaches a payment method at the processor; one that is not attached there any more is left alone. @throws UPSTREAM_FAILED */
export async function detachMethod({ ask }: Asks, organizationId: string, { id, processorId }: { readonly id: string; readonly processorId: string }) {
  const input = { id: processorId, idempotencyKey: `detach:${id}` }
  await ask(DetachProcessorMethodDocument, { input }, forOrganization(organizationId)).catch(error => {
    if (!['CONFLICT', 'NOT_FOUND', 'BAD_USER_INPUT'].includes(codeOf(error))) throw withoutToken(error, processorId)
  })
}

/** The processor's sentences repeat what it was sent. */
function withoutToken(error: unknown, token: string): unknown {
  const code = codeOf(error)
  if (code === 'NOT_FOUND' || code === 'BAD_USER_INPUT')
    return new DomainError('BAD_USER_INPUT', 'The processor knows no payment method of this token: have the payer enter the card again.', { field: 'token' })
  if (String((error as Error).message).includes(token))
    return new DomainError(code, 'The processor refused the payment method: ask for another.', detailsOf(error))
  return error
}

function detailsOf(error: unknown): Record<string, unknown> {
  const { code: _, ...details } = (error as { extensions?: Record<string, unknown> }).extensions ?? {}
  return details
}
