import { Archive, ArchiveRestore, BellDot, CheckCheck, Inbox as InboxIcon, MailOpen, Mail as Unread } from 'lucide-react'
import { type MouseEvent, useState } from 'react'
import { useMutation, useSubscription } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Status } from '../../design/parts/status.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { goTo, useSearch, withSearch } from '../../shell/address.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { useLaunch } from '../../shell/frame/launch.tsx'
import { Page } from '../../shell/page.tsx'
import { useRead } from '../../shell/read.ts'
import { Failure, Region } from '../../shell/region.tsx'
import { lately, moment } from '../../shell/time.ts'
import { say, sayIfKnown } from '../../shell/words.ts'
import { ArchiveDocument, InboxDocument, type InboxLineFragment, InboxReceivedDocument, MarkReadDocument } from './inbox.generated.ts'
import { pathOf, useKeys } from './lines.ts'
import { ActionTabs } from './tabs.tsx'

const pageSize = 50
/** Apps with pages of ours, which are opened by a launch; what others tell leads where they say. */
const services: ReadonlySet<string> = new Set(['publishing', 'payments', 'agents', 'providers'])
const shows = ['all', 'unread', 'archived'] as const

/** What the person was told in the active context, newest first. New ones wait until somebody wants to see them. */
export default function Inbox() {
  const search = useSearch()
  const show = shows.find(each => each === search.get('show')) ?? 'all'
  const [first, setFirst] = useState(pageSize)
  const { data, state, problem, retry } = useRead(InboxDocument, { unread: show === 'unread', archived: show === 'archived', first })
  const [fresh, setFresh] = useState<ReadonlySet<string>>(new Set())
  /** What was put away here and is not read anew yet. */
  const [gone, setGone] = useState<ReadonlySet<string>>(new Set())
  const [{ error, fetching }, mark] = useMutation(MarkReadDocument)
  const { launch, refusal } = useLaunch()
  useKeys('[data-notification]')
  const rows = (data?.notifications?.nodes ?? []).flatMap(each => (each && !gone.has(each.id) ? [each] : []))
  const known = new Set(rows.map(({ id }) => id))
  useSubscription({ query: InboxReceivedDocument }, (_, told) => {
    const received = told.notificationReceived
    if (received) setFresh(before => new Set([...before, received.id]))
    return told
  })
  const waiting = show === 'archived' ? [] : [...fresh].filter(id => !known.has(id))
  const unread = data?.unreadNotifications ?? 0
  const refused = problemOf(error)
  const readAnew = () => {
    setFresh(new Set())
    retry()
  }
  const hide = (id: string, isHidden: boolean) => setGone(before => (isHidden ? new Set([...before, id]) : before.difference(new Set([id]))))
  async function readAll() {
    const answer = await mark({ input: { all: true } })
    readAnew()
    if (answer.data?.markNotificationsRead) toast({ sentence: say('inbox.all-read') })
  }
  return (
    <Page title={say('inbox.title')}>
      <ActionTabs unread={unread} />
      <div className="filters">
        {shows.map(each => (
          <Button
            key={each}
            chosen={each === show}
            aria-pressed={each === show}
            onPress={() => {
              setGone(new Set())
              goTo(withSearch('/actions/notifications', search, { show: each === 'all' ? null : each }), { replace: true })
            }}
          >
            {say(each === 'all' ? 'inbox.filter-all' : `inbox.show-${each}`)}
          </Button>
        ))}
      </div>
      <Region
        isFlush
        title={say(`inbox.show-${show}`)}
        tools={
          unread > 0 && (
            <Button icon={CheckCheck} isDisabled={fetching} onPress={() => void readAll()}>
              {say('inbox.read-all')}
            </Button>
          )
        }
        state={data ? (data.notifications ? (rows.length === 0 && waiting.length === 0 ? 'empty' : state) : 'error') : state}
        problem={problem}
        retry={retry}
        lines={8}
        empty={{ icon: InboxIcon, sentence: say(`inbox.empty-${show}`) }}
      >
        {waiting.length > 0 && (
          <Button kind="quiet" icon={BellDot} onPress={readAnew}>
            {say('inbox.new', { count: waiting.length })}
          </Button>
        )}
        {refused && <Failure sentence={refused.sentence} requestId={refused.requestId} />}
        <ul className="list">
          {rows.map(each => (
            <Line key={each.id} line={each} hide={hide} reload={readAnew} launch={launch} />
          ))}
        </ul>
        <div className="pager">
          <span>{say('list.count', { count: data?.notifications?.totalCount ?? rows.length })}</span>
          {data?.notifications?.pageInfo.hasNextPage && first < 100 && (
            <Button kind="quiet" onPress={() => setFirst(100)}>
              {say('action.more')}
            </Button>
          )}
        </div>
      </Region>
      <p className="quiet small by-keys">{say('inbox.keys')}</p>
      {refusal}
    </Page>
  )
}

interface LineProps {
  readonly line: InboxLineFragment
  hide(id: string, isHidden: boolean): void
  reload(): void
  launch(service: string, returnTo?: string): Promise<void>
}

function Line({ line: { id, app, title, body, url, count, severity, createdAt, readAt, archivedAt }, hide, reload, launch }: LineProps) {
  const [marked, mark] = useMutation(MarkReadDocument)
  const [archived, archive] = useMutation(ArchiveDocument)
  /** Said at once; what was refused is taken back. */
  const [isMarked, setMarked] = useState<boolean | null>(null)
  const isRead = isMarked ?? readAt !== null
  const isArchived = archivedAt !== null
  const problem = problemOf(marked.error ?? archived.error)
  async function setRead(read: boolean) {
    setMarked(read)
    const { data } = await mark({ input: { ids: [id], read } })
    if (data?.markNotificationsRead) reload()
    else setMarked(!read)
  }
  async function putAway() {
    hide(id, true)
    const { data } = await archive({ input: { ids: [id], archived: !isArchived } })
    if (!data?.archiveNotifications) return hide(id, false)
    toast({
      sentence: say(isArchived ? 'inbox.restored' : 'inbox.archived', { title }),
      action: {
        name: say('inbox.undo'),
        run: () =>
          void archive({ input: { ids: [id], archived: isArchived } }).then(() => {
            hide(id, false)
            reload()
          }),
      },
    })
    reload()
  }
  const open = (event: MouseEvent) => {
    if (!isRead) void setRead(true)
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return
    if (app !== 'launcher' && !services.has(app)) return
    event.preventDefault()
    if (app === 'launcher') goTo(pathOf(url!, app))
    else void launch(app, pathOf(url!, app))
  }
  return (
    <li data-notification={id}>
      <span className="letter" data-letter={app.slice(0, 1).toUpperCase()} aria-hidden />
      <div className="grow">
        {url ? (
          <a href={url} onClick={open} rel="noreferrer" {...(app !== 'launcher' && !services.has(app) && { target: '_blank' })}>
            {title}
          </a>
        ) : (
          <p>{title}</p>
        )}
        {body && <p className="small text">{body}</p>}
        <p className="quiet small">
          {sayIfKnown(`app.${app}`, app)}
          {' · '}
          <time dateTime={createdAt} title={moment(createdAt)}>
            {lately(createdAt)}
          </time>
          {count > 1 && ` · ${say('inbox.times', { count })}`}
        </p>
        {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      </div>
      {severity === 'CRITICAL' && (
        <Status meaning="danger" icon={BellDot}>
          {say('inbox.critical')}
        </Status>
      )}
      {!isRead && (
        <Status meaning="info" icon={Unread}>
          {say('inbox.unread')}
        </Status>
      )}
      <Button
        kind="quiet"
        icon={isArchived ? ArchiveRestore : Archive}
        name={say(isArchived ? 'inbox.restore' : 'inbox.archive', { title })}
        onPress={() => void putAway()}
      />
      {!isArchived && (
        <Button
          kind="quiet"
          icon={isRead ? Unread : MailOpen}
          isDisabled={marked.fetching}
          name={say(isRead ? 'inbox.mark-unread' : 'inbox.mark-read', { title })}
          onPress={() => void setRead(!isRead)}
        />
      )}
    </li>
  )
}
