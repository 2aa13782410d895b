import { CalendarClock, CircleAlert, CircleCheck, Send, TriangleAlert } from 'lucide-react'
import { useCallback, useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Dialog } from '../../design/parts/dialog.tsx'
import { Field } from '../../design/parts/field.tsx'
import { Icon } from '../../design/parts/icon.tsx'
import { Note } from '../../design/parts/status.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { goTo, usePath, useSearch } from '../../shell/address.tsx'
import { type Problem, problemOf } from '../../shell/data/problems.ts'
import { Page } from '../../shell/page.tsx'
import { useRead } from '../../shell/read.ts'
import { Failure, Region } from '../../shell/region.tsx'
import { momentAtWall, timeOfDay } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { type Brand, useBrand } from '../brand/brand.ts'
import { type Network, networks } from '../brand/networks.ts'
import { useChecks } from './checks.ts'
import {
  ComposeDocument,
  ComposeDraftDocument,
  ComposeNetworksDocument,
  type ComposeNetworksQuery,
  DropDraftDocument,
  UpdateDraftDocument,
} from './compose.generated.ts'
import { type Draft, forgetDraft, keptDraft, useSavedDraft } from './draft.ts'

type NetworkChoice = NonNullable<NonNullable<ComposeNetworksQuery['integrations']>[number]>

/** One text for several networks: kept as it is typed, checked by the graph, sent at a time in the brand's zone. */
export default function ComposePage() {
  const id = /^\/compose\/([^/]+)$/.exec(usePath())?.[1] ?? null
  const { brand, isKnown } = useBrand()
  const choices = useRead(ComposeNetworksDocument, brand ? { brandId: brand.id } : {}, { pause: !brand })
  const draft = useRead(ComposeDraftDocument, { id: id ?? '' }, { pause: id === null })
  const list = (choices.data?.integrations ?? []).filter(each => each !== null)
  const isReady = choices.state === 'ready' && (id === null || draft.state === 'ready')
  const state = isKnown && !brand ? 'empty' : isReady ? 'ready' : choices.state === 'error' || draft.state === 'error' ? 'error' : 'loading'
  return (
    <Page title={say('compose.title')}>
      {isReady && brand ? (
        <Composer key={id ?? 'new'} id={id ?? 'new'} brand={brand} choices={list} post={draft.data?.post ?? null} />
      ) : (
        <Region state={state} lines={7} problem={choices.problem ?? draft.problem} retry={choices.retry} empty={{ icon: Send, sentence: say('brand.none') }} />
      )}
    </Page>
  )
}

interface ComposerProps {
  readonly id: string
  readonly brand: Brand
  readonly choices: readonly NetworkChoice[]
  readonly post: { readonly id: string; readonly copy: string; readonly platform: Network; readonly version: number } | null
}

function beginning({ id, choices, post }: ComposerProps, at: string | null): Draft {
  const kept = keptDraft(id)
  if (kept.copy !== '' || kept.post) return kept
  const wall = at && /^\d{4}-\d\d-\d\d$/.test(at) ? `${at}T09:00` : ''
  if (post) return { copy: post.copy, platforms: [post.platform], wall, post }
  const first = choices.find(({ connectable, connected }) => connectable && connected) ?? choices.find(({ connectable }) => connectable)
  return { copy: '', platforms: first ? [first.platform] : [], wall, post: null }
}

function Composer(props: ComposerProps) {
  const { id, brand, choices } = props
  const at = useSearch().get('at')
  const [draft, setDraft] = useState(() => beginning(props, at))
  const take = useCallback((post: NonNullable<Draft['post']>) => setDraft(before => ({ ...before, post })), [])
  const { savedAt, problem } = useSavedDraft(id, brand.id, draft, take)
  const checks = useChecks(brand.id, draft)
  const change = (changes: Partial<Draft>) => setDraft(before => ({ ...before, ...changes }))
  const errors = checks.flatMap(({ platform, problems }) => problems.map(each => ({ ...each, platform })))
  const errorOf = (field: string) => errors.find(each => each.field === field && each.severity === 'ERROR')?.message
  return (
    <div className="columns">
      <Region state="ready">
        <fieldset className="field">
          <legend>{say('compose.networks')}</legend>
          <div className="toggles">
            {choices.map(({ platform, title, connectable, reason }) => (
              <label key={platform} title={connectable ? undefined : (reason ?? undefined)}>
                <input
                  type="checkbox"
                  checked={draft.platforms.includes(platform)}
                  disabled={!connectable}
                  onChange={event =>
                    change({ platforms: event.target.checked ? [...draft.platforms, platform] : draft.platforms.filter(each => each !== platform) })
                  }
                />
                {title}
                {!connectable && <span className="unseen">{reason}</span>}
              </label>
            ))}
          </div>
        </fieldset>
        <Field label={say('compose.text')} value={draft.copy} onChange={copy => change({ copy })} rows={8} wrong={errorOf('copy')} />
        <Field
          label={say('compose.when')}
          type="datetime-local"
          value={draft.wall}
          onChange={wall => change({ wall })}
          hint={say('compose.zone', { zone: brand.timeZone })}
          wrong={draft.wall !== '' && !momentAtWall(draft.wall, brand.timeZone) ? say('posts.skipped') : errorOf('scheduledAt')}
        />
        {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
        <Sending id={id} brand={brand} draft={draft} />
        <p className="quiet small" role="status">
          {savedAt ? say('compose.saved', { time: timeOfDay(savedAt) }) : say('compose.saves')}
        </p>
      </Region>
      <Region title={say('compose.preview')} state="ready">
        {draft.platforms.length === 0 && <p className="quiet">{say('compose.choose')}</p>}
        {draft.platforms.map(platform => {
          const check = checks.find(each => each.platform === platform)
          return (
            <article key={platform} className="preview">
              <h3>{networks[platform]}</h3>
              <p className="text" dir="auto">
                {draft.copy || <span className="quiet">{say('compose.nothing')}</span>}
              </p>
              {check && (
                <p className={check.length > check.maxLength ? 'small wrong' : 'small quiet figures'}>
                  {say('compose.length', { length: check.length, max: check.maxLength })}
                </p>
              )}
              {check?.problems.map(({ code, message, severity }) => (
                <Note key={code} meaning={severity === 'ERROR' ? 'danger' : 'warning'} icon={severity === 'ERROR' ? CircleAlert : TriangleAlert}>
                  {message}
                </Note>
              ))}
              {check?.problems.length === 0 && (
                <p className="small quiet">
                  <Icon of={CircleCheck} /> {say('compose.fits')}
                </p>
              )}
            </article>
          )
        })}
      </Region>
    </div>
  )
}

/** What becomes of it: scheduled for its time, or sent at this moment. Each opening of the form has one key, so a press counts once. */
function Sending({ id, brand, draft }: { readonly id: string; readonly brand: Brand; readonly draft: Draft }) {
  const [, compose] = useMutation(ComposeDocument)
  const [, update] = useMutation(UpdateDraftDocument)
  const [, drop] = useMutation(DropDraftDocument)
  const [isBusy, setBusy] = useState(false)
  const [asks, setAsks] = useState(false)
  const [problem, setProblem] = useState<Problem | null>(null)
  const [idempotencyKey] = useState(() => crypto.randomUUID())
  const at = draft.wall === '' ? null : momentAtWall(draft.wall, brand.timeZone)
  async function send(scheduledAt: string) {
    setBusy(true)
    const { copy, platforms, post } = draft
    const isOne = post !== null && platforms.length === 1 && platforms[0] === post.platform
    const answer = isOne
      ? await update({ input: { id: post.id, copy, scheduledAt, expectedVersion: post.version } })
      : await compose({ input: { brandId: brand.id, platforms, copy, scheduledAt, idempotencyKey } })
    setBusy(false)
    setProblem(problemOf(answer.error))
    if (answer.error) return
    // Each network has a post of its own now: the draft that kept the text has done its work.
    if (!isOne && post) await drop({ input: { id: post.id } })
    forgetDraft(id)
    toast({ sentence: say('compose.done') })
    goTo('/posts?status=scheduled')
  }
  const isWhole = draft.copy.trim() !== '' && draft.platforms.length > 0
  return (
    <>
      {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      <div className="actions">
        <Button kind="primary" icon={CalendarClock} isDisabled={!isWhole || !at || isBusy} onPress={() => at && void send(at.toISOString())}>
          {say('compose.schedule')}
        </Button>
        <Button icon={Send} isDisabled={!isWhole || isBusy} onPress={() => setAsks(true)}>
          {say('posts.publish')}
        </Button>
      </div>
      {asks && (
        <Dialog title={say('posts.publish')} onClose={() => setAsks(false)}>
          <p>{say('posts.publish-sure', { network: draft.platforms.map(each => networks[each]).join(', ') })}</p>
          <div className="actions">
            <Button onPress={() => setAsks(false)}>{say('action.cancel')}</Button>
            <Button
              kind="primary"
              onPress={() => {
                setAsks(false)
                void send(new Date(Date.now() + 5000).toISOString())
              }}
            >
              {say('posts.publish')}
            </Button>
          </div>
        </Dialog>
      )}
    </>
  )
}
