import { useRouterState } from '@tanstack/react-router'
import { type AnchorHTMLAttributes, type MouseEvent, useMemo } from 'react'
import { base } from './place.ts'

/** How pages move on: set by the start, so that a link needs no router of its own. */
let move: (href: string, isReplacing: boolean) => void = href => location.assign(href)

/** Takes what moves to another address of this app. */
export function takeMover(mover: typeof move): void {
  move = mover
}

/** Goes to an address of this app, written without its prefix. */
export const goTo = (path: string, { replace = false }: { readonly replace?: boolean } = {}): void => move(`${base}${path}`, replace)

/** A link within the app: the browser's own in every other way, so that it can be copied and opened in a tab. */
export function Link({ to, ...rest }: Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'href'> & { readonly to: string }) {
  const follow = (event: MouseEvent) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    goTo(to)
  }
  return <a {...rest} href={`${base}${to}`} onClick={follow} />
}

/** The path of the page, without the app's prefix. */
export const usePath = (): string => useRouterState({ select: ({ location }) => location.pathname }).slice(base.length) || '/'

/** What the address says beside its path; read by name, and each by whoever knows its values. */
export function useSearch(): URLSearchParams {
  const text = useRouterState({ select: ({ location }) => location.searchStr })
  return useMemo(() => new URLSearchParams(text), [text])
}

/** The same address with other values; an empty one leaves. */
export function withSearch(path: string, search: URLSearchParams, changes: Readonly<Record<string, string | null>>): string {
  const changed = new URLSearchParams(search)
  for (const [name, value] of Object.entries(changes)) {
    if (value) changed.set(name, value)
    else changed.delete(name)
  }
  const text = changed.toString()
  return text === '' ? path : `${path}?${text}`
}
