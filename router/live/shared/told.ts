import type { ExecutionResult, GraphQLFormattedError } from 'graphql'
import type { LiveEvent } from '../../engine/engine.ts'

/** An event in the form in which everybody is told it: written once, whoever many they are. */
export interface Told {
  /** The result of the operation, as JSON. */
  readonly json: string
  /** What it tells the latest of; null where the stream keeps nothing. */
  readonly about: string | null
  /** The same in a door's frame. @param door by which it is kept */
  framed(door: symbol, frame: (json: string) => string): string
}

/** @param tellErrors the form in which errors leave the platform */
export function toldOf({ answer, about }: LiveEvent, tellErrors: (errors: NonNullable<ExecutionResult['errors']>) => readonly GraphQLFormattedError[]): Told {
  const { errors, data, extensions } = answer
  const json = JSON.stringify({ ...(errors && { errors: tellErrors(errors) }), ...(data !== undefined && { data }), ...(extensions && { extensions }) })
  const frames = new Map<symbol, string>()
  return {
    json,
    about,
    framed(door, frame) {
      let framed = frames.get(door)
      if (framed === undefined) {
        framed = frame(json)
        frames.set(door, framed)
      }
      return framed
    },
  }
}
