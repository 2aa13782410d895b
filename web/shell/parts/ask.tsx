import type { FormEvent, ReactNode } from 'react'
import { Button } from '../../design/parts/button.tsx'
import { Dialog } from '../../design/parts/dialog.tsx'
import type { Problem } from '../data/problems.ts'
import { Failure } from '../region.tsx'
import { say } from '../words.ts'

interface AskProps {
  readonly title: string
  /** What the button does, as a verb that names the thing. */
  readonly verb: string
  readonly isBusy: boolean
  readonly problem: Problem | null
  onDo(): void
  onClose(): void
  readonly children: ReactNode
}

/** Asks before something is done: it names the thing and what follows. */
export const Confirm = ({
  title,
  sentence,
  verb,
  isBusy = false,
  isDanger = true,
  problem = null,
  children,
  onConfirm,
  onClose,
}: Pick<AskProps, 'title' | 'verb' | 'onClose'> & {
  /** What follows. */
  readonly sentence: string
  readonly isBusy?: boolean
  /** Whether it takes something away. @default true */
  readonly isDanger?: boolean
  readonly problem?: Problem | null
  /** What else has to be said. */
  readonly children?: ReactNode
  onConfirm(): void
}) => (
  <Dialog title={title} isAlert={isDanger} onClose={onClose}>
    <p>{sentence}</p>
    {children}
    {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
    <div className="actions">
      <Button onPress={onClose}>{say('action.cancel')}</Button>
      <Button kind={isDanger ? 'danger' : 'primary'} isDisabled={isBusy} onPress={onConfirm}>
        {verb}
      </Button>
    </div>
  </Dialog>
)

/** A form above the page. What is wrong with a field stands at the field; everything else above the buttons. @param fields whose problems they show themselves */
export function FormDialog({ title, verb, isBusy, problem, onDo, onClose, children, fields = [] }: AskProps & { readonly fields?: readonly string[] }) {
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onDo()
  }
  const isAtField = problem?.field && fields.includes(problem.field)
  return (
    <Dialog title={title} onClose={onClose}>
      <form className="form" onSubmit={submit} noValidate>
        {children}
        {problem && !isAtField && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
        <div className="actions">
          <Button kind="primary" type="submit" isDisabled={isBusy}>
            {verb}
          </Button>
          <Button onPress={onClose}>{say('action.cancel')}</Button>
        </div>
      </form>
    </Dialog>
  )
}
