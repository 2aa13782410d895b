import { Link, usePath } from '../../shell/address.tsx'
import { say } from '../../shell/words.ts'

/** What waits for the person, and beside it what they were told. @param unread how much of that is not read */
export function ActionTabs({ unread }: { readonly unread: number }) {
  const isInbox = usePath() === '/actions/notifications'
  return (
    <nav className="tabs" aria-label={say('actions.title')}>
      <Link to="/actions" aria-current={isInbox ? undefined : 'page'}>
        {say('actions.title')}
      </Link>
      <Link to="/actions/notifications" aria-current={isInbox ? 'page' : undefined}>
        {unread === 0 ? say('inbox.title') : say('inbox.title-unread', { count: unread })}
      </Link>
    </nav>
  )
}
