import type { ExecutionResult, GraphQLFormattedError } from 'graphql'
import type { LiveEvent } from '../../engine/engine.ts'

/** An event in the form sent to all clients: serialized once for all of them. */
export interface Told {
  /** The result of the operation, as JSON. */
  readonly json: string
  /** The item whose latest state the event carries; null where the stream keeps none. */
  readonly about: string | null
  /** The event as the bytes that a protocol sends; created once for each protocol. */
  framed(frame: Frame): Buffer
}

/** Wraps a result's JSON in a protocol's framing. */
export type Frame = (json: string) => Buffer

/** @param tellErrors formats errors for clients */
export function toldOf({ answer, about }: LiveEvent, tellErrors: (errors: NonNullable<ExecutionResult['errors']>) => readonly GraphQLFormattedError[]): Told {
  const { errors, data, extensions } = answer
  const json = JSON.stringify({ ...(errors && { errors: tellErrors(errors) }), ...(data !== undefined && { data }), ...(extensions && { extensions }) })
  const frames = new Map<Frame, Buffer>()
  return {
    json,
    about,
    framed(frame) {
      let framed = frames.get(frame)
      if (framed === undefined) {
        framed = frame(json)
        frames.set(frame, framed)
      }
      return framed
    },
  }
}
