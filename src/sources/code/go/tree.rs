//! Go's syntax tree as a program.

use tree_sitter::Node;

use crate::sources::code::program::lower::{DEPTH, Lowering, child, fields, named, unescape};
use crate::sources::code::program::{Id, Kind, Word};

/// Packages by the end of their paths, and what they are called here whatever a file calls them.
const PACKAGES: &[(&str, &str)] = &[
    ("github.com/aws/aws-sdk-go-v2/service/bedrockruntime", "bedrockruntime"),
    ("github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types", "types"),
    ("github.com/aws/aws-sdk-go-v2/config", "awsconfig"),
    ("github.com/aws/aws-sdk-go-v2/aws", "aws"),
    ("github.com/aws/aws-sdk-go-v2/aws/transport/http", "awshttp"),
    ("github.com/aws/aws-sdk-go-v2/aws/retry", "awsretry"),
    ("github.com/avast/retry-go", "avast-retry"),
    ("github.com/sethvargo/go-retry", "sethvargo-retry"),
    ("github.com/cenkalti/backoff", "backoff"),
];

/// Functions that give back what they are given, as a pointer or as another type.
const SAME: &[&str] = &["String", "Int32", "Int64", "Int", "Float32", "Float64", "Bool", "Ptr", "To", "ToPtr", "Duration"];
const CONVERSIONS: &[&str] =
    &["int", "int32", "int64", "uint", "uint32", "uint64", "float32", "float64", "string", "new", "ptr"];

impl Lowering<'_> {
    /// A file; its imports.
    pub(super) fn go(&mut self, root: Node<'_>) -> Vec<String> {
        let paths = self.go_imports(root);
        let list = self.go_all(named(root));
        self.add(root, Kind::Scope(list));
        paths
    }

    fn go_imports(&mut self, root: Node<'_>) -> Vec<String> {
        let declarations = named(root).into_iter().filter(|node| node.kind() == "import_declaration");
        let mut specs = Vec::new();
        for declaration in declarations {
            let list = child(declaration, "import_spec_list").unwrap_or(declaration);
            specs.extend(named(list).into_iter().filter(|spec| spec.kind() == "import_spec"));
        }
        let mut paths = Vec::new();
        for spec in specs {
            let path = self.field_text(spec, "path").trim_matches(['"', '`']).to_owned();
            // Major versions are no names: `backoff/v4`.
            let plain = match path.rsplit_once('/') {
                Some((start, last)) if last.strip_prefix('v').is_some_and(|v| v.parse::<u32>().is_ok()) => start,
                _ => path.as_str(),
            };
            let own = plain.rsplit('/').next().unwrap_or(plain).to_owned();
            let known = PACKAGES.iter().find(|(known, _)| *known == plain).map(|(_, name)| (*name).to_owned());
            let alias = match spec.child_by_field_name("name") {
                Some(name) => self.text(name).to_owned(),
                // The package in `retry-go` is `retry`, that in `go-retry` too.
                None => own.trim_end_matches("-go").trim_start_matches("go-").to_owned(),
            };
            self.imports.insert(alias, known.unwrap_or(own));
            paths.push(path);
        }
        paths
    }

    fn go_all(&mut self, nodes: Vec<Node<'_>>) -> Vec<Id> {
        nodes.into_iter().flat_map(|node| self.go_many(node)).collect()
    }

    fn go_many(&mut self, node: Node<'_>) -> Vec<Id> {
        if self.depth >= DEPTH || self.program.is_full() {
            return Vec::new();
        }
        self.depth += 1;
        let list = match node.kind() {
            "package_clause" | "import_declaration" | "comment" => Vec::new(),
            "expression_statement"
            | "parenthesized_expression"
            | "const_declaration"
            | "var_declaration"
            | "var_spec_list"
            | "type_declaration"
            | "statement_list"
            | "literal_element"
            | "variadic_argument" => self.go_all(named(node)),
            "const_spec" | "var_spec" => {
                let names = fields(node, "name");
                let of = node.child_by_field_name("type").map(|of| self.go_type(of)).unwrap_or_default();
                let values = node.child_by_field_name("value").map(named).unwrap_or_default();
                self.go_declare(node, names, &of, values)
            }
            "short_var_declaration" => {
                let names = node.child_by_field_name("left").map(named).unwrap_or_default();
                let values = node.child_by_field_name("right").map(named).unwrap_or_default();
                self.go_declare(node, names, "", values)
            }
            "assignment_statement" => self.go_assign(node),
            _ => vec![self.go_node(node)],
        };
        self.depth -= 1;
        list
    }

    fn go_one(&mut self, node: Node<'_>) -> Id {
        let mut list = self.go_many(node);
        if list.len() == 1 { list.swap_remove(0) } else { self.add(node, Kind::Group(list)) }
    }

    fn go_field(&mut self, node: Node<'_>, field: &str) -> Option<Id> {
        node.child_by_field_name(field).map(|child| self.go_one(child))
    }

    /// A type as text, with its package as it is called here.
    fn go_type(&self, node: Node<'_>) -> String {
        let text = self.text(node).trim_start_matches(['*', '&', '(', ' ']).trim_end_matches(')');
        match text.split_once('.') {
            Some((package, name)) if !package.contains(['[', '{', ' ']) => {
                format!("{}.{name}", self.imports.get(package).map_or(package, String::as_str))
            }
            _ => text.to_owned(),
        }
    }

    /// A name, as packages are called here also where a variable hides one.
    fn go_name(&self, node: Node<'_>) -> String {
        let text = self.text(node);
        self.imports.get(text).map_or(text, String::as_str).to_owned()
    }

    fn go_declare(&mut self, node: Node<'_>, names: Vec<Node<'_>>, of: &str, values: Vec<Node<'_>>) -> Vec<Id> {
        let ids: Vec<Id> = values.into_iter().map(|value| self.go_one(value)).collect();
        let (count, mut list) = (names.len(), Vec::new());
        for (index, name) in names.into_iter().enumerate() {
            let (value, part) = match ids.as_slice() {
                [one] if count > 1 => (Some(*one), index),
                _ => (ids.get(index).copied(), 0),
            };
            let name = self.go_name(name);
            list.push(self.add(node, Kind::Declare { name, of: of.to_owned(), value, part }));
        }
        list
    }

    fn go_assign(&mut self, node: Node<'_>) -> Vec<Id> {
        let targets = self.go_each(node.child_by_field_name("left"));
        let values = self.go_each(node.child_by_field_name("right"));
        let updates = self.field_text(node, "operator") != "=";
        let (count, mut list) = (targets.len(), Vec::new());
        for (index, target) in targets.into_iter().enumerate() {
            let (value, part) = match values.as_slice() {
                [one] if count > 1 => (*one, index),
                _ => match values.get(index) {
                    Some(&value) => (value, 0),
                    None => continue,
                },
            };
            list.push(self.add(node, Kind::Assign { target, value, part, updates }));
        }
        list
    }

    fn go_each(&mut self, node: Option<Node<'_>>) -> Vec<Id> {
        node.map(named).unwrap_or_default().into_iter().map(|node| self.go_one(node)).collect()
    }

    fn go_parameters(&mut self, node: Option<Node<'_>>) -> Vec<Id> {
        let mut list = Vec::new();
        for declaration in node.map(named).unwrap_or_default() {
            let of = declaration.child_by_field_name("type").map(|of| self.go_type(of)).unwrap_or_default();
            let names = fields(declaration, "name");
            if names.is_empty() {
                list.push(self.add(declaration, Kind::Parameter { name: "_".to_owned(), of: of.clone() }));
            }
            for name in names {
                let text = self.go_name(name);
                list.push(self.add(name, Kind::Parameter { name: text, of: of.clone() }));
            }
        }
        list
    }

    fn go_function(&mut self, node: Node<'_>) -> Id {
        let result = match node.child_by_field_name("result") {
            Some(list) if list.kind() == "parameter_list" => named(list)
                .first()
                .map(|first| self.go_type(first.child_by_field_name("type").unwrap_or(*first)))
                .unwrap_or_default(),
            Some(one) => self.go_type(one),
            None => String::new(),
        };
        let kind = Kind::Function {
            name: self.field_text(node, "name"),
            parameters: self.go_parameters(node.child_by_field_name("parameters")),
            result,
            body: self.go_field(node, "body"),
            marks: Vec::new(),
        };
        self.add(node, kind)
    }

    /// A call's function as the object before the dot, and the name.
    fn go_call(&mut self, node: Node<'_>) -> Kind {
        let arguments = node.child_by_field_name("arguments").map(named).unwrap_or_default();
        let Some(function) = node.child_by_field_name("function") else { return Kind::Group(Vec::new()) };
        match function.kind() {
            "selector_expression" => {
                let object = self.go_field(function, "operand");
                let name = function.child_by_field_name("field").map(|field| self.word(field)).unwrap_or_default();
                let arguments = arguments.into_iter().map(|argument| self.go_one(argument)).collect();
                Kind::Call { object, name, arguments }
            }
            "identifier" if self.text(function) == "make" => {
                let of = arguments.first().map(|of| self.text(*of).to_owned()).unwrap_or_default();
                let of = if of.starts_with("chan") { of } else { String::new() };
                let arguments = arguments.into_iter().skip(1).map(|argument| self.go_one(argument)).collect();
                Kind::New { of, arguments, entries: Vec::new() }
            }
            "identifier" => {
                let name = self.word(function);
                let arguments = arguments.into_iter().map(|argument| self.go_one(argument)).collect();
                Kind::Call { object: None, name, arguments }
            }
            _ => {
                let mut list = vec![self.go_one(function)];
                list.extend(self.go_all(arguments));
                Kind::Group(list)
            }
        }
    }

    /// The argument of a call that only makes a pointer or another type of it: `aws.Int32(5)`, `time.Duration(n)`.
    fn go_same<'t>(&self, node: Node<'t>) -> Option<Node<'t>> {
        let arguments = node.child_by_field_name("arguments").map(named)?;
        let [argument] = arguments.as_slice() else { return None };
        let function = node.child_by_field_name("function")?;
        let same = match function.kind() {
            "identifier" => CONVERSIONS.contains(&self.text(function)),
            "selector_expression" => {
                let package = self.field_text(function, "operand");
                let name = self.field_text(function, "field");
                SAME.contains(&name.as_str()) && matches!(package.as_str(), "aws" | "time" | "ptr" | "pointer" | "lo")
            }
            _ => false,
        };
        same.then_some(*argument)
    }

    fn go_literal(&mut self, node: Node<'_>, of: String) -> Kind {
        let mut entries = Vec::new();
        for element in named(node) {
            if element.kind() != "keyed_element" {
                entries.push(self.go_one(element));
                continue;
            }
            let key = element.child_by_field_name("key").and_then(|key| named(key).into_iter().next());
            let value = self.go_field(element, "value");
            if let (Some(key), Some(value)) = (key, value) {
                let text = self.text(key).trim_matches(['"', '`']).to_owned();
                let name = Word { text, span: key.byte_range() };
                entries.push(self.add(element, Kind::Entry { name, value }));
            }
        }
        Kind::New { of, arguments: Vec::new(), entries }
    }

    fn go_node(&mut self, node: Node<'_>) -> Id {
        let nothing = Kind::Group(Vec::new());
        let kind = match node.kind() {
            "function_declaration" | "func_literal" => return self.go_function(node),
            // A method is a member of its receiver's type, and the receiver a name that all of it sees.
            "method_declaration" => {
                let mut members = self.go_parameters(node.child_by_field_name("receiver"));
                let of = members.first().and_then(|&receiver| match self.program.kind(receiver) {
                    Kind::Parameter { of, .. } => Some(of.clone()),
                    _ => None,
                });
                members.push(self.go_function(node));
                let name = of.unwrap_or_default().split('[').next().unwrap_or_default().to_owned();
                Kind::Class { name, bases: Vec::new(), members, marks: Vec::new() }
            }
            "type_spec" => {
                let mut members = Vec::new();
                let list = node.child_by_field_name("type").and_then(|of| child(of, "field_declaration_list"));
                for field in list.map(named).unwrap_or_default() {
                    let of = field.child_by_field_name("type").map(|of| self.go_type(of)).unwrap_or_default();
                    for name in fields(field, "name") {
                        let name = self.text(name).to_owned();
                        members.push(self.add(field, Kind::Declare { name, of: of.clone(), value: None, part: 0 }));
                    }
                }
                Kind::Class { name: self.field_text(node, "name"), bases: Vec::new(), members, marks: Vec::new() }
            }
            "block" => Kind::Scope(self.go_all(named(node))),
            "call_expression" => match self.go_same(node) {
                Some(argument) => return self.go_one(argument),
                None => self.go_call(node),
            },
            "type_conversion_expression" => match node.child_by_field_name("operand") {
                Some(operand) => return self.go_one(operand),
                None => nothing,
            },
            "unary_expression" => match node.child_by_field_name("operand") {
                Some(operand) if matches!(self.field_text(node, "operator").as_str(), "&" | "*" | "+") => {
                    return self.go_one(operand);
                }
                _ => Kind::Group(self.go_all(named(node))),
            },
            "composite_literal" => {
                let of = node.child_by_field_name("type").map(|of| self.go_type(of)).unwrap_or_default();
                match node.child_by_field_name("body") {
                    Some(body) => self.go_literal(body, of),
                    None => nothing,
                }
            }
            "literal_value" => self.go_literal(node, String::new()),
            "selector_expression" => match (self.go_field(node, "operand"), node.child_by_field_name("field")) {
                (Some(object), Some(field)) => Kind::Member { object, name: self.word(field) },
                _ => nothing,
            },
            // `body["max_tokens"]` is a member of its map.
            "index_expression" => match (self.go_field(node, "operand"), node.child_by_field_name("index")) {
                (Some(object), Some(index)) if index.kind().ends_with("string_literal") => {
                    let text = self.text(index).trim_matches(['"', '`']).to_owned();
                    Kind::Member { object, name: Word { text, span: index.byte_range() } }
                }
                (object, _) => Kind::Group(object.into_iter().collect()),
            },
            "identifier" | "package_identifier" | "type_identifier" | "field_identifier" => Kind::Name(self.go_name(node)),
            "int_literal" | "float_literal" => self.number(node).map_or(nothing, Kind::Number),
            "interpreted_string_literal" => Kind::Text(unescape(self.text(node).trim_matches('"'))),
            "raw_string_literal" => Kind::Text(self.text(node).trim_matches('`').to_owned()),
            "true" => Kind::Truth(true),
            "false" => Kind::Truth(false),
            "nil" => Kind::Null,
            "binary_expression" => match (self.go_field(node, "left"), self.go_field(node, "right")) {
                (Some(left), Some(right)) => Kind::Binary { operator: self.field_text(node, "operator"), left, right },
                _ => nothing,
            },
            "if_statement" => {
                let first = node.child_by_field_name("initializer").map(|first| self.go_many(first));
                let condition = self.go_field(node, "condition");
                let then = self.go_field(node, "consequence");
                let otherwise = self.go_field(node, "alternative");
                match then {
                    Some(then) => {
                        let branch = self.add(node, Kind::If { condition, then, otherwise });
                        let Some(mut list) = first else { return branch };
                        list.push(branch);
                        Kind::Group(list)
                    }
                    None => nothing,
                }
            }
            "for_statement" => self.go_loop(node),
            "return_statement" => {
                let values = named(node).first().copied().map(named).unwrap_or_default();
                Kind::Return(values.into_iter().map(|value| self.go_one(value)).collect())
            }
            "break_statement" => Kind::Break,
            "continue_statement" => Kind::Continue,
            "inc_statement" | "dec_statement" => match named(node).first() {
                Some(&target) => {
                    let target = self.go_one(target);
                    let value = self.add(node, Kind::Group(Vec::new()));
                    Kind::Assign { target, value, part: 0, updates: true }
                }
                None => nothing,
            },
            _ => Kind::Group(self.go_all(named(node))),
        };
        self.add(node, kind)
    }

    fn go_loop(&mut self, node: Node<'_>) -> Kind {
        let (mut each, mut head) = (false, Vec::new());
        for part in named(node) {
            match part.kind() {
                "block" => {}
                "range_clause" => {
                    let over = part.child_by_field_name("right");
                    // `range 3` counts.
                    each = over.is_none_or(|over| over.kind() != "int_literal");
                    let names = part.child_by_field_name("left").map(named).unwrap_or_default();
                    for name in names {
                        let text = self.text(name).to_owned();
                        head.push(self.add(name, Kind::Parameter { name: text, of: String::new() }));
                    }
                    head.extend(over.map(|over| self.go_one(over)));
                }
                "for_clause" => head.extend(self.go_all(named(part))),
                _ => head.push(self.go_one(part)),
            }
        }
        match self.go_field(node, "body") {
            Some(body) => Kind::Loop { each, head, body },
            None => Kind::Group(head),
        }
    }
}
