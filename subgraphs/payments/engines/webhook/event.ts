/** An object of the processor's as an event shows it: its fields are read by name. */
export type ProcessorObject = Readonly<Record<string, unknown>>

/** What the processor says has happened. */
export interface ProcessorEvent {
  readonly type: string
  /** When, to the second. */
  readonly occurredAt: Date
  readonly object: ProcessorObject
}

/** Whose object an event is about. */
export interface Subject {
  readonly organizationId: string
  readonly orderId: string | null
  /** False: it is of this platform, and its record is not here yet. The event is tried again later. */
  readonly isKnown: boolean
}

/** What an event came to: DONE also where it says what is known; BACKWARDS: the object has got further since; NOT_YET: it is tried again later. */
export type Effect = 'DONE' | 'BACKWARDS' | 'NOT_YET'

/** What happens on events of one type. Work is what the handler reads and writes with. */
export interface EventHandler<Work> {
  /** Finds whose object it is; null: nobody's here. NOT_YET: it cannot be known before a call that is under way has been answered. */
  whose(work: Work, event: ProcessorEvent): Promise<Subject | 'NOT_YET' | null>
  /** Takes in what has happened. An event may come twice, and in any order: what is known already changes nothing. */
  apply(work: Work, event: ProcessorEvent, subject: Subject): Promise<Effect>
}

/** The handlers by type of event. */
export type EventHandlers<Work> = Readonly<Record<string, EventHandler<Work>>>

/** A text of an object; null where there is none. What may be shown in full (`payment_intent`) is its id. */
export function textIn(object: ProcessorObject, name: string): string | null {
  const value = object[name]
  if (typeof value === 'string') return value
  const { id } = Object(value) as { readonly id?: unknown }
  return typeof id === 'string' ? id : null
}

/** An object within an object; empty where there is none. */
export const objectIn = (object: ProcessorObject, name: string): ProcessorObject => Object(object[name] ?? {}) as ProcessorObject

/** A whole number of an object; 0 where there is none. */
export const numberIn = (object: ProcessorObject, name: string): number => (Number.isSafeInteger(object[name]) ? (object[name] as number) : 0)
