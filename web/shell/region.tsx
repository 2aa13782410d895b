import { type LucideIcon, RotateCw } from 'lucide-react'
import { type ComponentPropsWithoutRef, type ReactNode, useEffect } from 'react'
import { Button } from '../design/parts/button.tsx'
import { Empty, Problem, Skeleton } from '../design/parts/states.tsx'
import type { Problem as Told } from './data/problems.ts'
import { markReady } from './page.tsx'
import { type RegionState, useElapsed } from './read.ts'
import { say } from './words.ts'

export interface RegionProps extends Omit<ComponentPropsWithoutRef<'section'>, 'title'> {
  readonly title?: ReactNode
  /** Beside the title. */
  readonly tools?: ReactNode
  readonly state: RegionState
  readonly problem?: Told | null
  retry?(): void
  /** Lines of its skeleton. @default 5 */
  readonly lines?: number
  /** Whether its content reaches its edges, as tables and lists do. */
  readonly isFlush?: boolean
  readonly empty?: { readonly icon: LucideIcon; readonly sentence: string; readonly action?: ReactNode }
  readonly children?: ReactNode
}

/** A part of a page that loads and fails on its own. */
export function Region({ title, tools, state, problem, retry, lines = 5, isFlush = false, empty, children, className, ...rest }: RegionProps) {
  useEffect(() => {
    if (state !== 'loading') markReady()
  }, [state])
  const isSlow = useElapsed(8000, state === 'loading')
  return (
    <section
      {...rest}
      className={['region', isFlush && 'flush', className].filter(Boolean).join(' ')}
      data-state={state}
      aria-busy={state === 'loading' ? true : undefined}
    >
      {(title || tools) && (
        <header>
          {typeof title === 'string' ? <h2>{title}</h2> : title}
          {tools}
        </header>
      )}
      {state === 'loading' && <Skeleton lines={lines} />}
      {state === 'loading' && isSlow && <p className="slow">{say('state.slow')}</p>}
      {state === 'empty' && empty && (
        <Empty icon={empty.icon} sentence={empty.sentence}>
          {empty.action}
        </Empty>
      )}
      {state !== 'loading' && state !== 'error' && !(state === 'empty' && empty) && children}
      {(state === 'error' || state === 'partial') && (
        <Failure sentence={problem?.sentence ?? say('problem.slow')} requestId={problem?.requestId} retry={retry} />
      )}
    </section>
  )
}

/** What failed, beside what caused it. */
export const Failure = ({
  sentence,
  requestId,
  retry,
}: {
  readonly sentence: string
  readonly requestId?: string | null | undefined
  readonly retry?: (() => void) | undefined
}) => (
  <Problem
    sentence={sentence}
    details={
      requestId && (
        <details>
          <summary>{say('problem.details')}</summary>
          {say('problem.request', { id: requestId })}
        </details>
      )
    }
  >
    {retry && (
      <Button icon={RotateCw} onPress={retry}>
        {say('action.again')}
      </Button>
    )}
  </Problem>
)
