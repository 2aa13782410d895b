import { Download } from 'lucide-react'
import { useState } from 'react'
import { type Client, useClient } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { saveFile } from '../../shell/data/file.ts'
import { csvOf } from '../../shell/parts/csv.ts'
import { Failure } from '../../shell/region.tsx'
import { say } from '../../shell/words.ts'
import { PostsToExportDocument, type PostsToExportQueryVariables } from './bulk.generated.ts'

/** More posts than a spreadsheet is opened with. */
const maxPosts = 5000

/** Saves all posts that the filters show as a file of comma-separated values. */
export function ExportButton({ filters }: { readonly filters: PostsToExportQueryVariables & { readonly first?: number } }) {
  const client = useClient()
  const [isBusy, setBusy] = useState(false)
  const [wrong, setWrong] = useState<string | null>(null)
  async function save() {
    setBusy(true)
    setWrong(null)
    const rows: (readonly (string | null | undefined)[])[] = [['id', 'platform', 'status', 'scheduledAt', 'publishedAt', 'title', 'copy', 'link', 'tags']]
    const { first: _, after: __, ...asked } = filters
    let after: string | null | undefined
    do {
      const page = await readPage(client, { ...asked, ...(after && { after }) })
      if (!page) {
        setWrong(say('problem.network'))
        break
      }
      rows.push(...page.rows)
      after = page.next
    } while (after && rows.length < maxPosts)
    setBusy(false)
    if (after !== undefined) saveFile('posts.csv', 'text/csv', csvOf(rows))
  }
  return (
    <>
      <Button kind="quiet" icon={Download} isDisabled={isBusy} onPress={() => void save()}>
        {say('bulk.export')}
      </Button>
      {wrong && <Failure sentence={wrong} />}
    </>
  )
}

/** One page of it as rows; null when it could not be read. */
async function readPage(client: Client, variables: PostsToExportQueryVariables) {
  const { data } = await client.query(PostsToExportDocument, variables, { requestPolicy: 'network-only' }).toPromise()
  if (!data?.posts) return null
  const { nodes, pageInfo } = data.posts
  const rows = (nodes ?? []).flatMap(post =>
    post ? [[post.id, post.platform, post.status, post.scheduledAt, post.publishedAt, post.title, post.copy, post.link, post.tags.join(' ')]] : [],
  )
  return { rows, next: pageInfo.hasNextPage ? pageInfo.endCursor : null }
}
