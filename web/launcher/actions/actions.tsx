import { Check, Inbox } from 'lucide-react'
import { type MouseEvent, useCallback, useEffect, useState } from 'react'
import { useMutation, useSubscription } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { Link, usePath } from '../../shell/address.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { useLaunch } from '../../shell/frame/launch.tsx'
import { Page } from '../../shell/page.tsx'
import { useRead } from '../../shell/read.ts'
import { Failure, Region } from '../../shell/region.tsx'
import { lately, moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { ActionQueueDocument, type ActionRowFragment, ActionsDocument, CompleteActionDocument } from './actions.generated.ts'
import { pathOf, useKeys } from './lines.ts'
import { ActionPanel } from './panel.tsx'
import { ActionTabs } from './tabs.tsx'

const pageSize = 50

/** What waits for the person, newest first; each opens where it can be dealt with. New ones wait until somebody wants to see them. */
export default function Actions() {
  const [first, setFirst] = useState(pageSize)
  const { data, state, problem, retry } = useRead(ActionsDocument, { first }, { isEmpty: ({ actionItems }) => actionItems?.totalCount === 0 })
  const [isGone, setGone] = useState<ReadonlySet<string>>(new Set())
  const [fresh, setFresh] = useState<ReadonlySet<string>>(new Set())
  const { launch, refusal } = useLaunch()
  const opened = /^\/actions\/([^/]+)$/.exec(usePath())?.[1]
  useKeys('[data-action]')
  const rows = (data?.actionItems?.nodes ?? []).filter(each => each !== null && each.status === 'OPEN' && !isGone.has(each.id)) as readonly ActionRowFragment[]
  const known = new Set(rows.map(({ id }) => id))
  useSubscription({ query: ActionQueueDocument }, (_, told) => {
    const changed = told.actionQueueChanged
    // One that closed is marked in place; one that is new moves nothing until somebody asks for it.
    if (changed?.status === 'OPEN') setFresh(before => new Set([...before, changed.id]))
    return told
  })
  const waiting = [...fresh].filter(id => !known.has(id))
  const showFresh = () => {
    setFresh(new Set())
    retry()
  }
  const hide = useCallback((id: string, isHidden: boolean) => {
    setGone(before => (isHidden ? new Set([...before, id]) : before.difference(new Set([id]))))
  }, [])
  useEffect(() => {
    if (rows.length === 0 && waiting.length > 0) showFresh()
  })
  return (
    <Page title={say('actions.title')}>
      <ActionTabs unread={data?.unreadNotifications ?? 0} />
      <div className={opened ? 'beside open' : 'beside'}>
        <Region
          isFlush
          state={state === 'ready' && rows.length === 0 ? 'empty' : state}
          problem={problem}
          retry={retry}
          empty={{ icon: Inbox, sentence: say('actions.empty') }}
        >
          {waiting.length > 0 && (
            <Button kind="quiet" onPress={showFresh}>
              {say('actions.new', { count: waiting.length })}
            </Button>
          )}
          <ul className="list">
            {rows.map(item => (
              <ActionLine key={item.id} item={item} hide={hide} launch={launch} />
            ))}
          </ul>
          <div className="pager">
            <span>{say('actions.count', { count: data?.actionItems?.totalCount ?? rows.length })}</span>
            {data?.actionItems?.pageInfo.hasNextPage && (
              <Button kind="quiet" onPress={() => setFirst(Math.min(first + pageSize, 100))}>
                {say('action.more')}
              </Button>
            )}
          </div>
        </Region>
        {opened && <ActionPanel key={opened} id={opened} back="/actions" open={(url, service) => void launch(service, pathOf(url, service))} />}
      </div>
      <p className="quiet small by-keys">{say('actions.keys')}</p>
      {refusal}
    </Page>
  )
}

interface LineProps {
  readonly item: ActionRowFragment
  hide(id: string, isHidden: boolean): void
  launch(service: string, returnTo?: string): Promise<void>
}

function ActionLine({ item: { id, title, url, version, createdAt, subject }, hide, launch }: LineProps) {
  const [{ error, fetching }, complete] = useMutation(CompleteActionDocument)
  const problem = problemOf(error)
  async function finish() {
    hide(id, true)
    const { data } = await complete({ input: { id, expectedVersion: version } })
    // It comes back, with the reason, when it was refused.
    if (data?.completeActionItem) toast({ sentence: say('actions.done', { title }) })
    else hide(id, false)
  }
  const open = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return
    event.preventDefault()
    void launch(subject.service, pathOf(url, subject.service))
  }
  return (
    <li data-action={id}>
      <span className="letter" data-letter={subject.service.slice(0, 1).toUpperCase()} aria-hidden />
      <div className="grow">
        <a href={url} onClick={open}>
          {title}
        </a>
        <p className="quiet small">
          <Link to={`/actions/${id}`} aria-label={say('actions.details', { title })}>
            {say('actions.detail')}
          </Link>
          {' · '}
          <time dateTime={createdAt} title={moment(createdAt)}>
            {lately(createdAt)}
          </time>
        </p>
        {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} retry={() => void finish()} />}
      </div>
      <Button icon={Check} isDisabled={fetching} onPress={() => void finish()} aria-label={say('actions.complete-named', { title })}>
        {say('actions.complete')}
      </Button>
    </li>
  )
}
