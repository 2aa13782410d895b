import { useSearch } from '../../shell/address.tsx'
import { useRead } from '../../shell/read.ts'
import { BrandsDocument, type BrandsQuery } from './brand.generated.ts'

export type Brand = NonNullable<NonNullable<NonNullable<BrandsQuery['brands']>['nodes']>[number]>

const key = 'supergraph.publishing.brand'

/** The brands of the active organization, and the one at hand: what the address says, else what this tab chose last, else the first. */
export function useBrand(): { readonly brand: Brand | null; readonly brands: readonly Brand[]; readonly isKnown: boolean } {
  const { data, state } = useRead(BrandsDocument, {})
  const asked = useSearch().get('brand') ?? sessionStorage.getItem(key)
  const brands = (data?.brands?.nodes ?? []).filter(each => each !== null)
  const brand = brands.find(({ id }) => id === asked) ?? brands[0] ?? null
  return { brand, brands, isKnown: state !== 'loading' }
}

/** Keeps a choice for this tab. */
export const keepBrand = (id: string): void => sessionStorage.setItem(key, id)
