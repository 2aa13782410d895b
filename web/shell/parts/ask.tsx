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

/** Asks before something that cannot be taken back: it names the thing and what follows. */
export const Sure = ({ title, verb, isBusy, problem, onDo, onClose, children }: AskProps) => (
  <Dialog title={title} isAlert onClose={onClose}>
    <div>{children}</div>
    {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
    <div className="actions">
      <Button kind="danger" isDisabled={isBusy} onPress={onDo}>
        {verb}
      </Button>
      <Button onPress={onClose}>{say('action.cancel')}</Button>
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
