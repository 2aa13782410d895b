import type { ExecutionResult, GraphQLError } from 'graphql'
import { Counter, type Registry } from 'prom-client'
import type { IncrementalAnswer, IncrementalForm, LiveEvent, Payload } from '../engine/engine.ts'
import { registerFigures } from './figure.ts'
import { openHistogram, type Series } from './histogram.ts'

/** What is measured of one incremental answer. */
interface Measured {
  /** Name under which the operation is counted. */
  readonly operation: string
  /** Returns the seconds since the operation began. */
  firstAt(): number
  /** Counts the operation, with all its errors. */
  end(result: Pick<ExecutionResult, 'data' | 'errors'>): void
}

/** Measures incremental answers. */
export interface IncrementalFigures {
  /** Runs an operation, and counts its answer while it is open, its payloads, and its errors at the end. */
  watch(run: () => Promise<ExecutionResult | IncrementalAnswer>, measured: Measured): Promise<ExecutionResult | IncrementalAnswer>
  /** Counts the payloads of a stream's events, and each event while it is open. */
  watchEvents(form: IncrementalForm): EventFigures
}

/** Counts the payloads of one stream. */
export interface EventFigures {
  /** Counts an event, or a payload of one. @returns the errors of its parts */
  count(answer: LiveEvent['answer']): readonly GraphQLError[]
  /** Notes that the stream has ended: no event is open. */
  end(): void
}

/** Returns the errors of the parts in a payload. */
const errorsOfParts = ({ incremental = [], completed = [] }: Payload) => [...incremental, ...completed].flatMap(entry => entry.errors ?? [])

export function openIncrementalFigures(registry: Registry, buckets: readonly number[]): IncrementalFigures {
  let open = 0
  registerFigures(registry, [{ name: 'supergraph_incremental_answers', help: 'Answers with deferred fragments that are not complete.', read: () => open }])
  const payloads = new Counter({
    name: 'supergraph_incremental_payloads_total',
    help: 'Payloads of answers with deferred fragments, by their form.',
    labelNames: ['form'],
    registers: [registry],
  })
  for (const form of ['v0.2', '20220824']) payloads.inc({ form }, 0)
  const first = openHistogram(registry, {
    name: 'supergraph_first_payload_seconds',
    help: 'From the valid operation to the first payload of an answer with deferred fragments.',
    buckets,
  })
  const series = new Map<string, Series>()
  const seriesOf = (operation: string): Series => {
    const known = series.get(operation) ?? first({ operation })
    series.set(operation, known)
    return known
  }

  return {
    async watch(run, { operation, firstAt, end }) {
      let answer: ExecutionResult | IncrementalAnswer = { errors: [] }
      try {
        answer = await run()
      } finally {
        if (!('next' in answer)) end(answer)
      }
      return 'next' in answer ? opened(answer, { operation, firstAt, end }) : answer
    },
    watchEvents(form) {
      let isOpen = false
      const set = (isOpening: boolean) => {
        open += Number(isOpening) - Number(isOpen)
        isOpen = isOpening
      }
      return {
        count(answer) {
          if (!('hasNext' in answer)) return []
          payloads.inc({ form })
          set(answer.hasNext)
          return errorsOfParts(answer)
        },
        end: () => set(false),
      }
    },
  }

  function opened(answer: IncrementalAnswer, { operation, firstAt, end }: Measured): IncrementalAnswer {
    open += 1
    seriesOf(operation).observe(firstAt())
    const errors: GraphQLError[] = []
    let data: ExecutionResult['data']
    let isOver = false
    const over = () => {
      if (isOver) return
      isOver = true
      open -= 1
      end({ data: data ?? null, ...(errors.length > 0 && { errors }) })
    }
    return {
      ...answer,
      async next() {
        const each = await answer.next()
        if (each.done) over()
        else {
          const { value } = each
          payloads.inc({ form: answer.form })
          data ??= value.data
          errors.push(...(value.errors ?? []), ...errorsOfParts(value))
          if (!value.hasNext) over()
        }
        return each
      },
      async return() {
        over()
        return answer.return()
      },
    }
  }
}
