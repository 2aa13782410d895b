import { CircleCheck, CircleOff, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Facts } from '../../design/parts/facts.tsx'
import { Field } from '../../design/parts/field.tsx'
import { Status } from '../../design/parts/status.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { useRights } from '../../shell/frame/rights.ts'
import { Confirm, FormDialog } from '../../shell/parts/ask.tsx'
import { Copyable } from '../../shell/parts/secret.tsx'
import { base } from '../../shell/place.ts'
import { Failure, Region } from '../../shell/region.tsx'
import { say } from '../../shell/words.ts'
import { type ChatSiteFieldsFragment, UpdateChatSiteDocument } from './chat.generated.ts'
import { type Persona, PersonaForm, personasOf } from './persona.tsx'

type Asked = { readonly what: 'persona'; readonly slug: string | null } | { readonly what: 'remove'; readonly persona: Persona } | { readonly what: 'words' }

/** Whether visitors are answered, by whom, and what is not answered. Who may change agents changes it. */
export function Site({ site }: { readonly site: ChatSiteFieldsFragment }) {
  const mayWrite = useRights().may('agents:agents.write')
  const [{ error, fetching }, update] = useMutation(UpdateChatSiteDocument)
  const [asked, setAsked] = useState<Asked | null>(null)
  const personas = site.personas ?? []
  const problem = problemOf(error)
  async function remove({ slug }: Persona) {
    const rest = personasOf(personas.filter(each => each.slug !== slug))
    const { data } = await update({ input: { personas: rest, ...(rest.length === 0 && { enabled: false }), expectedVersion: site.version } })
    if (data?.updateChatSite) setAsked(null)
  }
  return (
    <Region
      title={say('chat.who')}
      aria-label={say('chat.who')}
      state="ready"
      tools={
        mayWrite && (
          <Button
            kind={site.enabled ? 'danger' : 'primary'}
            isDisabled={fetching || personas.length === 0}
            onPress={() => void update({ input: { enabled: !site.enabled, expectedVersion: site.version } })}
          >
            {say(site.enabled ? 'chat.disable' : 'chat.enable')}
          </Button>
        )
      }
    >
      <div>
        <Status meaning={site.enabled ? 'positive' : 'plain'} icon={site.enabled ? CircleCheck : CircleOff}>
          {say(site.enabled ? 'chat.enabled' : 'chat.disabled')}
        </Status>
      </div>
      {problem && !asked && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      <ul className="list">
        {personas.map(persona => (
          <li key={persona.slug} data-persona={persona.slug}>
            <div className="grow">
              <p>
                <strong>{persona.name}</strong> <span className="quiet small">{persona.default ? say('chat.default') : ''}</span>
              </p>
              <p dir="auto">{persona.greeting}</p>
              <p className="quiet small">{persona.model ?? say('chat.quotes')}</p>
            </div>
            {mayWrite && (
              <>
                <Button
                  name={say('action.of', { action: say('chat.change'), name: persona.name })}
                  onPress={() => setAsked({ what: 'persona', slug: persona.slug })}
                >
                  {say('chat.change')}
                </Button>
                <Button
                  kind="quiet"
                  icon={Trash2}
                  name={say('action.of', { action: say('chat.remove'), name: persona.name })}
                  onPress={() => setAsked({ what: 'remove', persona })}
                />
              </>
            )}
          </li>
        ))}
        {personas.length === 0 && <li className="quiet">{say('chat.no-persona')}</li>}
      </ul>
      <Facts
        of={[
          [say('chat.blocked'), (site.blockedWords ?? []).join(', ') || say('chat.none-blocked')],
          [say('chat.slug'), <code key="slug">{site.slug}</code>],
          [say('chat.put'), <Copyable key="put" text={snippetOf(site.slug)} />],
        ]}
      />
      <p className="quiet small">{say('chat.put-hint')}</p>
      {mayWrite && (
        <div className="actions">
          <Button icon={Plus} onPress={() => setAsked({ what: 'persona', slug: null })}>
            {say('chat.add')}
          </Button>
          <Button onPress={() => setAsked({ what: 'words' })}>{say('chat.block')}</Button>
        </div>
      )}
      {asked?.what === 'persona' && <PersonaForm site={site} slug={asked.slug} onClose={() => setAsked(null)} />}
      {asked?.what === 'words' && <BlockedWords site={site} onClose={() => setAsked(null)} />}
      {asked?.what === 'remove' && (
        <Confirm
          title={say('chat.remove')}
          sentence={say(personas.length === 1 ? 'chat.remove-last' : 'chat.remove-sentence', { name: asked.persona.name })}
          verb={say('chat.remove')}
          isBusy={fetching}
          problem={problem}
          onConfirm={() => void remove(asked.persona)}
          onClose={() => setAsked(null)}
        />
      )}
    </Region>
  )
}

/** What puts the chat on a page, wherever that is. */
const snippetOf = (slug: string): string => `<script src="${location.origin}${base}/embed/chat.js" data-site="${slug}" async></script>`

/** Words whose messages a fixed sentence answers, a line each. */
function BlockedWords({ site, onClose }: { readonly site: ChatSiteFieldsFragment; onClose(): void }) {
  const [{ error, fetching }, update] = useMutation(UpdateChatSiteDocument)
  const [text, setText] = useState(() => (site.blockedWords ?? []).join('\n'))
  const problem = problemOf(error)
  const isAtField = problem?.field?.startsWith('blockedWords')
  async function save() {
    const blockedWords = [...new Set(text.split('\n').flatMap(line => line.trim() || []))]
    const { data } = await update({ input: { blockedWords, expectedVersion: site.version } })
    if (!data?.updateChatSite) return
    toast({ sentence: say('chat.saved') })
    onClose()
  }
  return (
    <FormDialog
      title={say('chat.block')}
      verb={say('action.save')}
      isBusy={fetching}
      problem={isAtField ? null : problem}
      onDo={() => void save()}
      onClose={onClose}
    >
      <Field
        label={say('chat.blocked')}
        rows={6}
        value={text}
        onChange={setText}
        hint={say('chat.blocked-hint')}
        wrong={isAtField ? problem?.sentence : null}
      />
    </FormDialog>
  )
}
