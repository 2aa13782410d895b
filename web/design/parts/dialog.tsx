import type { ReactNode } from 'react'
import { Dialog as AriaDialog } from 'react-aria-components/Dialog'
import { Heading } from 'react-aria-components/Heading'
import { Modal, ModalOverlay } from 'react-aria-components/Modal'

/** A question or a message above the page; Escape and a press beside it close it. */
export const Dialog = ({
  title,
  isAlert = false,
  isWide = false,
  onClose,
  children,
}: {
  readonly title: string
  /** Whether it tells of a failure, or asks before something that cannot be taken back. */
  readonly isAlert?: boolean
  /** Whether it holds a list or a grid. */
  readonly isWide?: boolean
  onClose(): void
  readonly children: ReactNode
}) => (
  <ModalOverlay className="veil" isOpen isDismissable onOpenChange={isOpen => !isOpen && onClose()}>
    <Modal>
      <AriaDialog className={isWide ? 'dialog wide-one' : 'dialog'} role={isAlert ? 'alertdialog' : 'dialog'}>
        <Heading slot="title" level={2}>
          {title}
        </Heading>
        {children}
      </AriaDialog>
    </Modal>
  </ModalOverlay>
)
