import { Camera, CircleAlert, CircleCheck, FileText, Loader, Plus } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Facts } from '../../design/parts/facts.tsx'
import { Icon } from '../../design/parts/icon.tsx'
import { Status } from '../../design/parts/status.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { useOnce } from '../../shell/data/draft.ts'
import { problemOf } from '../../shell/data/problems.ts'
import { Panel } from '../../shell/parts/panel.tsx'
import { locale } from '../../shell/place.ts'
import { useRead } from '../../shell/read.ts'
import { Failure } from '../../shell/region.tsx'
import { lately, moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { ProfileActions } from './actions.tsx'
import { Authorizations } from './authorizations.tsx'
import { AddSource } from './new.tsx'
import { ProfileDetailDocument, type ProfileDetailsFragment, type SourceLineFragment, TakeSnapshotDocument } from './profiles.generated.ts'
import { SourceText } from './source.tsx'
import { ProfileState } from './state.tsx'
import { Uses } from './uses.tsx'

const decimal = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 })

/** One profile beside its list: style, sources, snapshots, authorizations and uses. @param reload reads the list anew */
export function ProfilePanel({ id, back, reload }: { readonly id: string; readonly back: string; reload(): void }) {
  const { data, state, problem, retry } = useRead(ProfileDetailDocument, { id })
  const profile = data?.personProfile
  return (
    <Panel label={say('profiles.one')} heading={profile?.displayName} back={back} state={data && !profile ? 'error' : state} problem={problem} retry={retry}>
      {profile && (
        <>
          <div>
            <ProfileState status={profile.status} />
          </div>
          <ProfileActions profile={profile} back={back} reload={reload} />
          <Style profile={profile} />
          <Sources profile={profile} reload={retry} />
          <Snapshots profile={profile} reload={retry} />
          <Authorizations profile={profile} />
          <Uses profile={profile} />
        </>
      )}
    </Panel>
  )
}

function Style({ profile: { writingStyle: style, personaRules, subject, createdAt } }: { readonly profile: ProfileDetailsFragment }) {
  const isBare = [style.tone, style.formality, style.sentenceLength, ...style.vocabulary, ...style.dos, ...style.donts, ...style.signaturePhrases].every(
    each => !each,
  )
  return (
    <>
      <h3>{say('profiles.style')}</h3>
      {isBare && <p className="quiet">{say('profiles.no-style')}</p>}
      <Facts
        of={[
          [say('profiles.tone'), style.tone],
          [say('profiles.formality'), style.formality],
          [say('profiles.sentences'), style.sentenceLength],
          [say('profiles.vocabulary'), style.vocabulary.join(', ')],
          [say('profiles.dos'), style.dos.join(', ')],
          [say('profiles.donts'), style.donts.join(', ')],
          [say('profiles.phrases'), style.signaturePhrases.join(', ')],
          [say('profiles.rules'), personaRules.join(' · ')],
          [say('profiles.subject'), subject?.name],
          [say('profiles.created'), moment(createdAt)],
        ]}
      />
    </>
  )
}

const looks = { PROCESSING: ['info', Loader], READY: ['positive', CircleCheck], FAILED: ['danger', CircleAlert] } as const

function Sources({ profile, reload }: { readonly profile: ProfileDetailsFragment; reload(): void }) {
  const [adds, setAdds] = useState(false)
  const [reads, setReads] = useState<SourceLineFragment | null>(null)
  const sources = (profile.sources?.nodes ?? []).filter(each => each !== null)
  return (
    <>
      <h3>{say('profiles.sources')}</h3>
      <ul className="list">
        {sources.map(source => (
          <li key={source.id} data-source={source.id}>
            <Icon of={FileText} />
            <div className="grow">
              <Button kind="link" onPress={() => setReads(source)} aria-label={say('profiles.source-read', { title: source.title })}>
                {source.title}
              </Button>
              <p className="quiet small">{`${say(`kind.${source.kind}`)} · ${lately(source.capturedAt)}`}</p>
              {source.failure && <p className="small wrong">{source.failure.message}</p>}
            </div>
            <Status meaning={looks[source.status][0]} icon={looks[source.status][1]}>
              {say(`source.${source.status}`)}
            </Status>
          </li>
        ))}
        {sources.length === 0 && <li className="quiet">{say('profiles.no-source')}</li>}
      </ul>
      <div className="actions">
        <Button icon={Plus} onPress={() => setAdds(true)}>
          {say('profiles.add-source')}
        </Button>
      </div>
      {adds && <AddSource profileId={profile.id} reload={reload} onClose={() => setAdds(false)} />}
      {reads && <SourceText id={reads.id} title={reads.title} onClose={() => setReads(null)} />}
    </>
  )
}

function Snapshots({ profile, reload }: { readonly profile: ProfileDetailsFragment; reload(): void }) {
  const once = useOnce()
  const [count, setCount] = useState(0)
  const [{ error, fetching }, take] = useMutation(TakeSnapshotDocument)
  const problem = problemOf(error)
  const snapshots = (profile.snapshots?.nodes ?? []).filter(each => each !== null)
  const isReady = profile.sources?.nodes?.some(each => each?.status === 'READY')
  async function run() {
    const { data } = await take({ input: { personProfileId: profile.id, idempotencyKey: `${once}-${count}` } })
    const made = data?.createStyleSnapshot
    if (!made) return
    setCount(count + 1)
    toast({ sentence: say(made.justTaken ? 'profiles.taken' : 'profiles.same', { number: made.number }) })
    reload()
  }
  return (
    <>
      <h3>{say('profiles.snapshots')}</h3>
      <ul className="list">
        {snapshots.map(({ id, number, active, summary, measures, createdAt }) => (
          <li key={id} data-snapshot={number}>
            <Icon of={Camera} />
            <div className="grow">
              <p>{say('profiles.snapshot', { number })}</p>
              {summary && <p dir="auto">{summary}</p>}
              <p className="quiet small">
                {`${say('profiles.measures', { words: measures.words, average: decimal.format(measures.wordsPerSentence) })} · ${lately(createdAt)}`}
              </p>
            </div>
            {active && (
              <Status meaning="positive" icon={CircleCheck}>
                {say('profiles.active')}
              </Status>
            )}
          </li>
        ))}
        {snapshots.length === 0 && <li className="quiet">{say('profiles.no-snapshot')}</li>}
      </ul>
      {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      {isReady && (
        <div className="actions">
          <Button icon={Camera} isDisabled={fetching} onPress={() => void run()}>
            {say('profiles.take')}
          </Button>
        </div>
      )}
    </>
  )
}
