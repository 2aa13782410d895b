import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'

/** Asks before something that cannot be taken back; it names the thing and what follows. */
export const Confirm = ({
  title,
  sentence,
  verb,
  cancel,
  isBusy = false,
  isDanger = true,
  children,
  onConfirm,
  onClose,
}: {
  readonly title: string
  readonly sentence: string
  readonly verb: string
  readonly cancel: string
  readonly isBusy?: boolean
  /** Whether it takes something away. @default true */
  readonly isDanger?: boolean
  /** What went wrong, or what else has to be said. */
  readonly children?: ReactNode
  onConfirm(): void
  onClose(): void
}) => (
  <Dialog title={title} isAlert={isDanger} onClose={onClose}>
    <p>{sentence}</p>
    {children}
    <div className="actions">
      <Button onPress={onClose}>{cancel}</Button>
      <Button kind={isDanger ? 'danger' : 'primary'} isDisabled={isBusy} onPress={onConfirm}>
        {verb}
      </Button>
    </div>
  </Dialog>
)
