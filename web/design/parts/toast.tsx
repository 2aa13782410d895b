import { lazy, Suspense, useSyncExternalStore } from 'react'
import { UNSTABLE_ToastQueue as ToastQueue } from 'react-aria-components'

interface Said {
  readonly sentence: string
  readonly action?: { readonly name: string; run(): void }
}

export const queue = new ToastQueue<Said>({ maxVisibleToasts: 3 })

/** Tells that something was done, for 6 s, longer while it is looked at. Failures stand where they were caused, never here. */
export const toast = (said: Said): void => void queue.add(said, { timeout: said.action ? 8000 : 6000 })

const Region = lazy(() => import('./toast-region.tsx'))

/** Where they appear. What draws them is loaded with the first one. */
export function Toasts(words: { readonly name: string; readonly close: string }) {
  const isNeeded = useSyncExternalStore(
    listener => queue.subscribe(listener),
    () => queue.visibleToasts.length > 0,
  )
  return (
    isNeeded && (
      <Suspense>
        <Region {...words} />
      </Suspense>
    )
  )
}
