import type { ExecutionResult, GraphQLFormattedError } from 'graphql'
import type { LiveEvent } from '../../engine/engine.ts'

/** An event in the form in which everybody is told it: written once, whoever many they are. */
export interface Told {
  /** The result of the operation, as JSON. */
  readonly json: string
  /** What it tells the latest of; null where the stream keeps nothing. */
  readonly about: string | null
  /** The same as the bytes that a door sends, which are made once. */
  framed(frame: Frame): Buffer
}

/** Puts a result into the frame of a door. */
export type Frame = (json: string) => Buffer

/** @param tellErrors the form in which errors leave the platform */
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
