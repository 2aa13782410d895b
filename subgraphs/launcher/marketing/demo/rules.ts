import { readTimeZone } from '../../../../platform/clock.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { readText, requireName } from '../../../../platform/ids.ts'
import type { LeadRow } from '../../stores/lead.ts'
import { max, requireMail } from '../lead/rules.ts'
import { isBookable, isSlot, slotMs } from './slots.ts'

type Maybe<Value> = Value | null | undefined

/** A booking as it is given. */
export interface GivenBooking {
  readonly startsAt: Date
  readonly purpose: 'DEMO' | 'ENTERPRISE'
  readonly name: string
  readonly email: string
  readonly company?: Maybe<string>
  readonly seats?: Maybe<number>
  readonly message?: Maybe<string>
  readonly timeZone?: Maybe<string>
}

/** Reads a booking. @param zone of the slots @throws BAD_USER_INPUT with the field that is wrong */
export function readBooking({ startsAt, purpose, name, email, company, seats, message }: GivenBooking, zone: string, now: Date) {
  if (!isBookable(startsAt, now) || !isSlot(zone, startsAt))
    throw new DomainError('BAD_USER_INPUT', `No demo begins at ${startsAt.toISOString()}: choose one of the free slots.`, { field: 'startsAt' })
  if (seats && (!Number.isInteger(seats) || seats < 1 || seats > max.seats))
    throw new DomainError('BAD_USER_INPUT', `seats is ${seats}: it takes a whole number from 1 to ${max.seats}.`, { field: 'seats' })
  return {
    ...{ kind: 'DEMO' as const, startsAt, isBooked: true, purpose: purpose.toLowerCase() },
    name: requireName(name, 'name', max.name),
    email: requireMail(email),
    company: company?.trim() ? requireName(company, 'company', max.company) : null,
    seats: seats || null,
    message: readText(message, 'message', max.message),
  }
}

/** Reads the time zone of a visitor. @param zone of the slots, which holds without one @throws BAD_USER_INPUT */
export const zoneOf = (given: Maybe<string>, zone: string): string => (given ? readTimeZone(given) : zone)

export const slotTaken = (): DomainError =>
  new DomainError('CONFLICT', 'Somebody has booked this slot: choose another one.', { reason: 'SLOT_TAKEN', field: 'startsAt' })

export const codeRefused = (): DomainError =>
  new DomainError('BAD_USER_INPUT', 'This link cancels no demo: it was used before, or the demo has begun.', { reason: 'CODE', field: 'code' })

/** A demo as its visitor is answered. */
export const bookingOf = ({ id, startsAt, purpose }: Pick<LeadRow, 'id' | 'startsAt' | 'purpose'>) => ({
  id,
  startsAt: startsAt!,
  endsAt: new Date(startsAt!.getTime() + slotMs),
  purpose: purpose === 'enterprise' ? ('ENTERPRISE' as const) : ('DEMO' as const),
})

const spoken = (at: Date, timeZone: string): string =>
  `${new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'short', timeZone }).format(at)} (${timeZone})`

/** The mail that confirms a demo. @param zone of the visitor */
export const bookedMail = ({ name, startsAt }: Pick<LeadRow, 'name' | 'startsAt'>, cancelUrl: string, zone: string) => ({
  subject: 'Your demo is booked',
  text: [
    `Hello ${name},`,
    `your demo begins on ${spoken(startsAt!, zone)} and takes half an hour.`,
    `If that does not suit you any more, cancel it here, and choose another time:\n${cancelUrl}`,
  ].join('\n\n'),
})

/** The mail that a demo is cancelled, to its visitor. @param zone of the slots */
export const cancelledMail = ({ name, startsAt }: Pick<LeadRow, 'name' | 'startsAt'>, demoUrl: string, zone: string) => ({
  subject: 'Your demo is cancelled',
  text: [`Hello ${name},`, `your demo on ${spoken(startsAt!, zone)} is cancelled.`, `You can book another one here:\n${demoUrl}`].join('\n\n'),
})

/** The mail that a demo is cancelled, to those who look after leads. */
export const goneMail = ({ name, email, startsAt }: Pick<LeadRow, 'name' | 'email' | 'startsAt'>, adminUrl: string) => ({
  subject: 'Somebody cancelled a demo',
  text: ['Somebody cancelled a demo', `Name: ${name}\nEmail: ${email}\nBegins: ${startsAt!.toISOString()}`, `All leads: ${adminUrl}`].join('\n\n'),
})
