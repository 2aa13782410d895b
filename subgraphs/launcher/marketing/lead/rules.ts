import { DomainError } from '../../../../platform/errors.ts'
import { readText, requireName, requireText } from '../../../../platform/ids.ts'
import { isMailAddress, mailAddressSentence, toStored } from '../../../../platform/smtp/mail-address.ts'
import type { LeadRow, LeadStatus } from '../../stores/lead.ts'

/** Maximum characters of what visitors and admins write, and maximum seats. */
export const max = { name: 80, topic: 120, page: 500, message: 4_000, note: 4_000, company: 120, product: 80, seats: 1_000_000, website: 2_000 } as const

/** Tenant under which idempotency keys of visitors are kept: they belong to no organization. */
export const visitorsTenant = '00000000-0000-0000-0000-000000000000'

type Maybe<Value> = Value | null | undefined

/** Returns a mail address in the form in which it is stored. @throws BAD_USER_INPUT */
export function requireMail(given: Maybe<string>): string {
  if (isMailAddress(given)) return toStored(given)
  throw new DomainError('BAD_USER_INPUT', `email is no mail address ${mailAddressSentence}.`, { field: 'email' })
}

/** A message as it is given. */
export interface GivenContact {
  readonly kind: 'CONTACT' | 'FEEDBACK'
  readonly name: string
  readonly email: string
  readonly message: string
  readonly topic?: Maybe<string>
  readonly page?: Maybe<string>
  readonly website?: Maybe<string>
}

/** Reads a message. @throws BAD_USER_INPUT with the field that is wrong */
export const readContact = ({ kind, name, email, message, topic, page, website }: GivenContact) => ({
  kind,
  name: requireName(name, 'name', max.name),
  email: requireMail(email),
  message: requireText(message, 'message', max.message),
  topic: readText(topic, 'topic', max.topic),
  page: readText(page, 'page', max.page),
  status: (readText(website, 'website', max.website) === null ? 'NEW' : 'SPAM') as LeadStatus,
})

/** Who waits for what, as it is given. */
export interface GivenWaiting {
  readonly email: string
  readonly name?: Maybe<string>
  readonly product?: Maybe<string>
}

/** Reads who waits for what. @throws BAD_USER_INPUT with the field that is wrong */
export const readWaiting = ({ email, name, product }: GivenWaiting) => ({
  kind: 'WAITLIST' as const,
  email: requireMail(email),
  name: name?.trim() ? requireName(name, 'name', max.name) : null,
  product: product?.trim() ? requireName(product, 'product', max.product).toLowerCase() : null,
})

/** Returns the changes of a lead by an admin; what is left out stays. @throws BAD_USER_INPUT */
export function updating({ status, note }: { readonly status?: Maybe<LeadStatus>; readonly note?: Maybe<string> }): Partial<LeadRow> {
  return {
    ...(status && { status }),
    // Its slot is free again, and its code cancels nothing.
    ...(status === 'SPAM' && { isBooked: false, codeHash: null }),
    ...(note !== undefined && { note: readText(note, 'note', max.note) }),
  }
}

const titles: Readonly<Record<LeadRow['kind'], string>> = {
  WAITLIST: 'Somebody joined a waitlist',
  DEMO: 'Somebody booked a demo',
  CONTACT: 'Somebody wrote to us',
  FEEDBACK: 'Somebody gave feedback',
  CHECKOUT: 'Somebody began to buy',
}

/** The mail about a new lead for those who look after them. @param adminUrl page with the leads */
export function leadMail(
  lead: Pick<LeadRow, 'kind' | 'name' | 'email' | 'company' | 'seats' | 'purpose' | 'product' | 'topic' | 'page' | 'message' | 'startsAt'>,
  adminUrl: string,
) {
  const { kind, message, startsAt, ...rest } = lead
  const facts = [
    ...(['name', 'email', 'company', 'seats', 'purpose', 'product', 'topic', 'page'] as const).map(name => [name, rest[name]] as const),
    ['begins', startsAt?.toISOString() ?? null] as const,
  ]
  const lines = facts.flatMap(([name, value]) => (value === null ? [] : [`${name[0]!.toUpperCase()}${name.slice(1)}: ${value}`]))
  return { subject: titles[kind], text: [titles[kind], lines.join('\n'), ...(message === null ? [] : [message]), `All leads: ${adminUrl}`].join('\n\n') }
}
