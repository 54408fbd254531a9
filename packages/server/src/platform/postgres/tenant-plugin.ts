import {
  AliasNode,
  AndNode,
  BinaryOperationNode,
  CastNode,
  ColumnNode,
  type ColumnUpdateNode,
  DataTypeNode,
  IdentifierNode,
  type InsertQueryNode,
  type JoinNode,
  type KyselyPlugin,
  type OnConflictNode,
  OnNode,
  type OperationNode,
  OperationNodeTransformer,
  OperatorNode,
  ParensNode,
  type PluginTransformQueryArgs,
  type PluginTransformResultArgs,
  PrimitiveValueListNode,
  type QueryId,
  type RawNode,
  ReferenceNode,
  type RootOperationNode,
  SelectionNode,
  SelectQueryNode,
  TableNode,
  ValueListNode,
  ValueNode,
  ValuesNode,
  WhereNode,
  type WithNode,
} from 'kysely'

const TENANT_ID = 'tenant_id'

/**
 * Restricts every query of a Kysely instance to one tenant: each table that is read, joined, updated or deleted from
 * gets `tenant_id = <tenant>`, and each inserted row and conflict target gets the column. The tables' types lack
 * tenant_id, so that features cannot use it.
 */
export class TenantPlugin implements KyselyPlugin {
  readonly #transformer: TenantTransformer
  readonly #beforeEach: () => void

  /** @param beforeEach called before each query; may throw. */
  constructor(tenantId: string, beforeEach: () => void = () => {}) {
    this.#transformer = new TenantTransformer(tenantId)
    this.#beforeEach = beforeEach
  }

  transformQuery({ node, queryId }: PluginTransformQueryArgs): RootOperationNode {
    this.#beforeEach()
    return this.#transformer.transformNode(node, queryId)
  }

  async transformResult({ result }: PluginTransformResultArgs) {
    return result
  }
}

/** A table after one of these words, or a comment, which could hide one from this check. */
const NAMES_TABLE = /\b(from|join|into|update|table)(\s*"|\s+\w)|\/\*|--/i

class TenantTransformer extends OperationNodeTransformer {
  readonly #tenantId: string
  /** Names of common table expressions: they look like tables, but their queries are already restricted. */
  readonly #expressions: string[] = []

  constructor(tenantId: string) {
    super()
    this.#tenantId = tenantId
  }

  protected override transformSelectQuery(
    node: Parameters<OperationNodeTransformer['transformSelectQuery']>[0],
    queryId?: QueryId,
  ) {
    return this.#inside(node.with, () => {
      const select = super.transformSelectQuery(node, queryId)
      const predicates = (node.from?.froms ?? []).flatMap((from) => this.#predicateFor(from))
      return predicates.length === 0 ? select : { ...select, where: this.#confine(select.where, predicates) }
    })
  }

  protected override transformUpdateQuery(
    node: Parameters<OperationNodeTransformer['transformUpdateQuery']>[0],
    queryId?: QueryId,
  ) {
    return this.#inside(node.with, () => {
      const update = super.transformUpdateQuery(node, queryId)
      if (update.updates?.some(setsTenant)) throw new Error('A query must not change tenant_id.')
      const tables = [node.table, ...(node.from?.froms ?? [])]
      const predicates = tables.flatMap((table) => (table ? this.#predicateFor(table) : []))
      return { ...update, where: this.#confine(update.where, predicates) }
    })
  }

  protected override transformDeleteQuery(
    node: Parameters<OperationNodeTransformer['transformDeleteQuery']>[0],
    queryId?: QueryId,
  ) {
    return this.#inside(node.with, () => {
      const removal = super.transformDeleteQuery(node, queryId)
      const tables = [...node.from.froms, ...(node.using?.tables ?? [])]
      return {
        ...removal,
        where: this.#confine(
          removal.where,
          tables.flatMap((table) => this.#predicateFor(table)),
        ),
      }
    })
  }

  protected override transformInsertQuery(node: InsertQueryNode, queryId?: QueryId): InsertQueryNode {
    return this.#inside(node.with, () => {
      const insert = super.transformInsertQuery(node, queryId)
      const columns = [...(insert.columns ?? []), ColumnNode.create(TENANT_ID)]
      if (insert.values && SelectQueryNode.is(insert.values)) {
        if (insert.values.selections?.length !== insert.columns?.length) {
          throw new Error('A tenant query with INSERT … SELECT must name each column on both sides.')
        }
        return { ...insert, columns, values: this.#selectTenant(insert.values) }
      }
      if (!insert.values || !ValuesNode.is(insert.values)) {
        throw new Error('A tenant query must insert rows with values() or from a select.')
      }
      const values = ValuesNode.create(
        insert.values.values.map((row) =>
          PrimitiveValueListNode.is(row)
            ? PrimitiveValueListNode.create([...row.values, this.#tenantId])
            : ValueListNode.create([...row.values, ValueNode.create(this.#tenantId)]),
        ),
      )
      return { ...insert, columns, values }
    })
  }

  protected override transformOnConflict(node: OnConflictNode, queryId?: QueryId): OnConflictNode {
    const target = super.transformOnConflict(node, queryId)
    if (!target.columns) return target
    return { ...target, columns: [ColumnNode.create(TENANT_ID), ...target.columns] }
  }

  protected override transformJoin(node: JoinNode, queryId?: QueryId): JoinNode {
    const join = super.transformJoin(node, queryId)
    const [predicate] = this.#predicateFor(node.table)
    if (!predicate) return join
    return { ...join, on: join.on ? OnNode.cloneWithOperation(join.on, 'And', predicate) : OnNode.create(predicate) }
  }

  protected override transformRaw(node: RawNode, queryId?: QueryId): RawNode {
    // Raw SQL is for expressions only. A table in it would escape the restriction.
    const namesTable = node.sqlFragments.some((fragment) => NAMES_TABLE.test(fragment))
    if (namesTable || node.parameters.some((parameter) => TableNode.is(parameter))) {
      throw new Error('Raw SQL in a tenant query must not name a table: build that part with the query builder.')
    }
    return super.transformRaw(node, queryId)
  }

  #inside<T>(expressions: WithNode | undefined, transform: () => T): T {
    const names = (expressions?.expressions ?? []).map(({ name }) => name.table.table.identifier.name)
    this.#expressions.push(...names)
    try {
      return transform()
    } finally {
      this.#expressions.splice(this.#expressions.length - names.length)
    }
  }

  #predicateFor(node: OperationNode): OperationNode[] {
    if (node.kind === 'AliasNode') {
      const { node: aliased, alias } = node as OperationNode & { node: OperationNode; alias: OperationNode }
      if (!TableNode.is(aliased) || !IdentifierNode.is(alias) || this.#isExpression(aliased)) return []
      return [this.#equalsTenant(TableNode.create(alias.name))]
    }
    if (!TableNode.is(node) || this.#isExpression(node)) return []
    return [this.#equalsTenant(node)]
  }

  #isExpression(table: TableNode): boolean {
    return this.#expressions.includes(table.table.identifier.name)
  }

  #equalsTenant(table: TableNode): OperationNode {
    const column = ReferenceNode.create(ColumnNode.create(TENANT_ID), table)
    return BinaryOperationNode.create(column, OperatorNode.create('='), ValueNode.create(this.#tenantId))
  }

  /** Adds the tenant to the selected columns of an insertion. The select itself is restricted like any other. */
  #selectTenant(select: SelectQueryNode): SelectQueryNode {
    if (select.setOperations?.length) throw new Error('A tenant query cannot insert rows from a union.')
    const tenant = CastNode.create(ValueNode.create(this.#tenantId), DataTypeNode.create('uuid'))
    const selection = SelectionNode.create(AliasNode.create(tenant, IdentifierNode.create(TENANT_ID)))
    return SelectQueryNode.cloneWithSelections(select, [selection])
  }

  #confine(where: WhereNode | undefined, predicates: OperationNode[]): WhereNode {
    const [first, ...rest] = predicates
    // Every statement of a tenant handle has a table; one without is a bug in this file.
    if (!first) throw new Error('A tenant query names no table.')
    const all = rest.reduce((left, right) => AndNode.create(left, right), first)
    return WhereNode.create(where ? AndNode.create(all, ParensNode.create(where.where)) : all)
  }
}

function setsTenant(update: ColumnUpdateNode): boolean {
  return ColumnNode.is(update.column) && update.column.column.name === TENANT_ID
}
