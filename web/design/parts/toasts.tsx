import { lazy, Suspense, useSyncExternalStore } from 'react'
import { queue } from './toast.tsx'

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
