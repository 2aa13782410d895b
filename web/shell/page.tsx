import { type ReactNode, useEffect, useRef } from 'react'
import { usePath } from './address.tsx'
import { app } from './place.ts'
import { say } from './words.ts'

let isFirst = true

/** The middle of a page: its one heading, which a navigation focuses, and its title. @param actions what may be done here, beside the heading */
export function Page({ title, actions, children }: { readonly title: string; readonly actions?: ReactNode; readonly children: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null)
  const path = usePath()
  useEffect(() => {
    document.title = `${title} · ${say(`app.${app}`)}`
  }, [title])
  useEffect(() => {
    // After a navigation a reader begins here; when a document opens the browser decides.
    if (!isFirst) heading.current?.focus()
    isFirst = false
  }, [path])
  return (
    <>
      <div className="title">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {actions}
      </div>
      {children}
    </>
  )
}

let marked = ''

/** Marks that the first region that matters is drawn, once a navigation. */
export function markReady(): void {
  if (marked === location.pathname) return
  marked = location.pathname
  performance.mark('page-ready')
}
