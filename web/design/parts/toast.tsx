import { UNSTABLE_ToastQueue as ToastQueue } from 'react-aria-components'

interface Said {
  readonly sentence: string
  readonly action?: { readonly name: string; run(): void }
}

/** Those that wait or are shown. */
export const queue = new ToastQueue<Said>({ maxVisibleToasts: 3 })

/** Tells that something was done, for 6 s, longer while it is looked at. Failures stand where they were caused, never here. */
export const toast = (said: Said): void => void queue.add(said, { timeout: said.action ? 8000 : 6000 })
