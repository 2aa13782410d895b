import { X } from 'lucide-react'
import { UNSTABLE_Toast as AriaToast, UNSTABLE_ToastContent as ToastContent, UNSTABLE_ToastRegion as ToastRegion } from 'react-aria-components'
import { Text } from 'react-aria-components/Text'
import { Button } from './button.tsx'
import { queue } from './toast.tsx'

/** The toasts that there are. */
export default function Region({ name, close }: { readonly name: string; readonly close: string }) {
  return (
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
}
