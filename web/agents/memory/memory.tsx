import { Brain, PenLine, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Field } from '../../design/parts/field.tsx'
import type { Column } from '../../design/parts/table.tsx'
import { useSearch } from '../../shell/address.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { Guard } from '../../shell/frame/guard.tsx'
import { useRights } from '../../shell/frame/rights.ts'
import { Page } from '../../shell/page.tsx'
import { Confirm, FormDialog } from '../../shell/parts/ask.tsx'
import { Listing, pageOf } from '../../shell/parts/listing.tsx'
import { useRead } from '../../shell/read.ts'
import { lately } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { DeleteMemoryDocument, MemoriesDocument, type MemoryLineFragment, SaveMemoryDocument } from './memory.generated.ts'

type Asked = { readonly verb: 'save'; readonly memory: MemoryLineFragment | null } | { readonly verb: 'delete'; readonly memory: MemoryLineFragment }

/** What the organization keeps for its people and agents, by key; written and deleted here. */
export default function Memory() {
  const mayWrite = useRights().may('agents:workspace.write')
  const [asked, setAsked] = useState<Asked | null>(null)
  const add = mayWrite && (
    <Button kind="primary" icon={Plus} onPress={() => setAsked({ verb: 'save', memory: null })}>
      {say('memory.add')}
    </Button>
  )
  return (
    <Page title={say('memory.title')} actions={add}>
      <Guard need="agents:workspace.read">
        <List asked={asked} mayWrite={mayWrite} onAsk={setAsked} />
      </Guard>
    </Page>
  )
}

function List({ asked, mayWrite, onAsk }: { readonly asked: Asked | null; readonly mayWrite: boolean; onAsk(asked: Asked | null): void }) {
  const variables = pageOf(useSearch())
  const { data, state, problem, retry } = useRead(MemoriesDocument, variables, {
    isEmpty: ({ operatingWorkspace }) => operatingWorkspace?.memory?.nodes?.length === 0,
  })
  const memory = data?.operatingWorkspace?.memory
  const rows = (memory?.nodes ?? []).filter(each => each !== null)
  const onClose = () => onAsk(null)
  return (
    <>
      <Listing
        label={say('memory.title')}
        path="/memory"
        columns={columns(mayWrite, onAsk)}
        rows={rows}
        state={state}
        problem={problem}
        retry={retry}
        page={memory?.pageInfo}
        total={memory?.totalCount}
        attributes={each => ({ 'data-memory': each.key })}
        empty={{ icon: Brain, sentence: say('memory.empty') }}
      />
      {asked?.verb === 'save' && <Save memory={asked.memory} reload={retry} onClose={onClose} />}
      {asked?.verb === 'delete' && <Delete memory={asked.memory} reload={retry} onClose={onClose} />}
    </>
  )
}

const columns = (mayWrite: boolean, onAsk: (asked: Asked) => void): readonly Column<MemoryLineFragment>[] => [
  { id: 'key', heading: say('memory.key'), cell: ({ key }) => <strong>{key}</strong> },
  {
    id: 'text',
    heading: say('memory.text'),
    isMain: true,
    cell: ({ text }) => (
      <span className="clip" dir="auto">
        {text}
      </span>
    ),
  },
  { id: 'by', heading: say('memory.by'), cell: ({ updatedBy, updatedAt }) => [updatedBy?.name, lately(updatedAt)].filter(Boolean).join(', ') },
  ...(mayWrite
    ? [
        {
          id: 'do',
          heading: say('memory.do'),
          cell: (memory: MemoryLineFragment) => (
            <span className="actions">
              <Button
                kind="quiet"
                icon={PenLine}
                name={say('action.of', { action: say('memory.change'), name: memory.key })}
                onPress={() => onAsk({ verb: 'save', memory })}
              />
              <Button
                kind="quiet"
                icon={Trash2}
                name={say('action.of', { action: say('memory.delete'), name: memory.key })}
                onPress={() => onAsk({ verb: 'delete', memory })}
              />
            </span>
          ),
        },
      ]
    : []),
]

function Save({ memory, reload, onClose }: { readonly memory: MemoryLineFragment | null; reload(): void; onClose(): void }) {
  const [{ error, fetching }, save] = useMutation(SaveMemoryDocument)
  const [key, setKey] = useState(memory?.key ?? '')
  const [text, setText] = useState(memory?.text ?? '')
  const [isTried, setTried] = useState(false)
  const problem = problemOf(error)
  const wrong = (field: string, value: string) => (problem?.field === field ? problem.sentence : isTried && value.trim() === '' ? say('form.required') : null)
  async function act() {
    setTried(true)
    if (key.trim() === '' || text.trim() === '') return
    const { data } = await save({ input: { key: key.trim(), text: text.trim(), ...(memory && { expectedVersion: memory.version }) } })
    if (!data?.saveMemory) return
    reload()
    onClose()
  }
  const verb = say(memory ? 'action.save' : 'memory.add')
  return (
    <FormDialog
      title={say(memory ? 'memory.change' : 'memory.add')}
      verb={verb}
      isBusy={fetching}
      problem={problem}
      fields={['key', 'text']}
      onDo={() => void act()}
      onClose={onClose}
    >
      {!memory && <Field label={say('memory.key')} value={key} onChange={setKey} hint={say('memory.key-hint')} wrong={wrong('key', key)} />}
      {memory && <p>{memory.key}</p>}
      <Field label={say('memory.text')} rows={5} value={text} onChange={setText} wrong={wrong('text', text)} />
    </FormDialog>
  )
}

function Delete({ memory: { id, key, version }, reload, onClose }: { readonly memory: MemoryLineFragment; reload(): void; onClose(): void }) {
  const [{ error, fetching }, remove] = useMutation(DeleteMemoryDocument)
  async function act() {
    const { data } = await remove({ input: { id, expectedVersion: version } })
    if (!data?.deleteMemory) return
    reload()
    onClose()
  }
  return (
    <Confirm
      title={say('memory.delete')}
      sentence={say('memory.delete-sentence', { key })}
      verb={say('memory.delete')}
      isBusy={fetching}
      problem={problemOf(error)}
      onConfirm={() => void act()}
      onClose={onClose}
    />
  )
}
