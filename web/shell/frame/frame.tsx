import { Ellipsis } from 'lucide-react'
import type { ComponentType, ReactNode } from 'react'
import { Button as AriaButton } from 'react-aria-components/Button'
import { Icon } from '../../design/parts/icon.tsx'
import { Action, Menu } from '../../design/parts/menu.tsx'
import { Toasts } from '../../design/parts/toasts.tsx'
import { goTo, Link, usePath } from '../address.tsx'
import type { AppPages } from '../pages.ts'
import { useRead } from '../read.ts'
import { say } from '../words.ts'
import { Account } from './account.tsx'
import { FrameDocument } from './frame.generated.ts'
import { icons } from './icons.ts'
import { OfflineBar } from './offline.tsx'
import type { FindRecords } from './palette/match.ts'
import { Palette } from './palette/palette.tsx'
import { Reconnecting } from './reconnecting.tsx'
import { SignInAgain } from './sign-in/ended.tsx'
import { Switcher } from './switcher.tsx'
import { Waiting } from './waiting.tsx'

/** The frame of every page: rail, bar, and the page in the middle. @param place the app's own switch, of the brand for example */
export function Frame({
  pages,
  place: Place,
  notice: Notice = null,
  records = null,
  children,
}: {
  readonly pages: AppPages
  readonly place: ComponentType | null
  /** What has to be said on every page, above it. */
  readonly notice?: ComponentType | null
  /** What finds records for the command palette. */
  readonly records?: FindRecords | null
  readonly children: ReactNode
}) {
  const { data } = useRead(FrameDocument, {})
  const user = data?.viewer?.user
  return (
    <>
      <a className="skip" href="#content">
        {say('frame.skip')}
      </a>
      <Rail pages={pages} isPlatformAdmin={(data?.viewer?.roles ?? []).some(role => role.startsWith('PLATFORM_'))} />
      <header className="bar">
        <div className="place">{Place ? <Place /> : <span className="clip quiet">{data?.viewer?.organization?.name}</span>}</div>
        <Palette pages={pages} records={records} />
        <Waiting count={data?.actionItems?.totalCount ?? null} />
        <Switcher />
        <Account viewer={data?.viewer ?? null} memberships={data?.memberships?.nodes ?? []} />
      </header>
      <OfflineBar />
      <Reconnecting />
      <main id="content" tabIndex={-1}>
        {Notice && <Notice />}
        {children}
      </main>
      <SignInAgain self={user ? { id: user.id, email: String(user.email ?? '') } : null} />
      <Toasts name={say('frame.messages')} close={say('action.close')} />
    </>
  )
}

function Rail({ pages: { title, start, pages }, isPlatformAdmin }: { readonly pages: AppPages; readonly isPlatformAdmin: boolean }) {
  const path = usePath()
  const shown = Object.entries(pages).flatMap(([name, page]) =>
    page.icon && (isPlatformAdmin || !page.isForPlatform) ? [{ name, page, icon: icons[page.icon]! }] : [],
  )
  const isHere = (paths: readonly string[]) => paths.some(each => path === each || path.startsWith(`${each}/`))
  return (
    <nav className={shown.length > 4 ? 'rail many' : 'rail'} aria-label={say(title)}>
      <Link className="mark" to={start}>
        <span className="label">{say(title)}</span>
      </Link>
      <ul>
        {shown.map(({ name, page, icon }) => (
          <li key={name}>
            <Link to={page.paths[0]} aria-current={isHere(page.paths) ? 'page' : undefined}>
              <Icon of={icon} large />
              <span className="label">{say(page.title)}</span>
            </Link>
          </li>
        ))}
        {shown.length > 4 && (
          <li className="more">
            <Menu
              name={say('frame.more')}
              button={
                <AriaButton className={shown.slice(4).some(({ page }) => isHere(page.paths)) ? 'here' : ''}>
                  <Icon of={Ellipsis} large />
                  <span className="label">{say('frame.more')}</span>
                </AriaButton>
              }
            >
              {shown.slice(4).map(({ name, page, icon }) => (
                <Action key={name} name={say(page.title)} onAction={() => goTo(page.paths[0])}>
                  <Icon of={icon} />
                  {say(page.title)}
                </Action>
              ))}
            </Menu>
          </li>
        )}
      </ul>
    </nav>
  )
}
