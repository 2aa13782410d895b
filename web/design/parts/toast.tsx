import { X } from 'lucide-react'
import {
  UNSTABLE_Toast as AriaToast,
  UNSTABLE_ToastContent as ToastContent,
  UNSTABLE_ToastQueue as ToastQueue,
  UNSTABLE_ToastRegion as ToastRegion,
} from 'react-aria-components'
import { Text } from 'react-aria-components/Text'
import { Button } from './button.tsx'

interface Said {
  readonly sentence: string
  readonly action?: { readonly name: string; run(): void }
}

const queue = new ToastQueue<Said>({ maxVisibleToasts: 3 })

/** Tells that something was done, for 6 s, longer while it is looked at. Failures stand where they were caused, never here. */
export const toast = (said: Said): void => void queue.add(said, { timeout: said.action ? 8000 : 6000 })

/** Where they appear. */
export const Toasts = ({ name, close }: { readonly name: string; readonly close: string }) => (
  <ToastRegion queue={queue} className="toasts" aria-label={name}>
    {({ toast: each }) => (
      <AriaToast toast={each} className="toast">
        <ToastContent>
          <Text slot="title">{each.content.sentence}</Text>
        </ToastContent>
        {each.content.action && (
          <Button
            kind="link"
            onPress={() => {
              each.content.action?.run()
              queue.close(each.key)
            }}
          >
            {each.content.action.name}
          </Button>
        )}
        <Button kind="quiet" slot="close" icon={X} name={close} />
      </AriaToast>
    )}
  </ToastRegion>
)
