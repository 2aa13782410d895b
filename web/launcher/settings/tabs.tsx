import { type ReactNode, useEffect, useRef } from 'react'
import { Link, usePath } from '../../shell/address.tsx'
import { Page } from '../../shell/page.tsx'
import { say } from '../../shell/words.ts'

const parts = ['person', 'organization', 'members', 'sessions', 'keys', 'households', 'billing', 'notifications'] as const

/** One part of the settings, with the way to the others. @param actions what may be done here, beside the heading */
export function SettingsPage({ actions, children }: { readonly actions?: ReactNode; readonly children: ReactNode }) {
  const path = usePath()
  const tabs = useRef<HTMLElement>(null)
  // Narrow, the parts are wider than the page: the present one is scrolled to.
  useEffect(() => {
    // Newer browsers return a promise, which React would take for the end of the effect.
    void tabs.current?.querySelector('[aria-current=page]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [path])
  return (
    <Page title={say('settings.title')} actions={actions}>
      <nav ref={tabs} className="tabs" aria-label={say('settings.title')}>
        {parts.map(part => (
          <Link
            key={part}
            to={`/settings/${part}`}
            aria-current={path === `/settings/${part}` || (path === '/settings' && part === 'person') ? 'page' : undefined}
          >
            {say(`settings.${part}`)}
          </Link>
        ))}
      </nav>
      {children}
    </Page>
  )
}
